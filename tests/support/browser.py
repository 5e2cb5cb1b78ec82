"""A page or picture in a real browser: Debian's chromium, headless, without a network; its screenshot as pixels."""

import shutil
import subprocess
import tempfile

from PIL import Image

WIDTH, HEIGHT = 1240, 1700
FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync", "--hide-scrollbars",
         "--force-color-profile=srgb"]


def chromium():
    return shutil.which("chromium")


def browse(*arguments, timeout_s=120):
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        return subprocess.run([chromium(), *FLAGS, f"--user-data-dir={profile}", *map(str, arguments)], check=True, timeout=timeout_s, capture_output=True).stdout


def screenshot(path, picture, width=WIDTH, height=HEIGHT, dark=False):
    """The top of a page as the browser draws it. path: a file."""
    theme = ["--blink-settings=preferredColorScheme=0"] if dark else ["--blink-settings=preferredColorScheme=1"]
    browse(*theme, f"--window-size={width},{height}", f"--screenshot={picture}", path.as_uri())
    return Image.open(picture).convert("RGB")


def dom(path):
    """The document after the browser has read it."""
    return browse(f"--window-size={WIDTH},{HEIGHT}", "--dump-dom", path.as_uri()).decode()


def printed(path, pdf):
    browse(f"--print-to-pdf={pdf}", "--no-pdf-header-footer", path.as_uri())
    return pdf.read_bytes()


def count(image, box, colour, tolerance=40):
    """Pixels of about that colour in box (left, top, right, bottom)."""
    pixels = image.crop(box).getdata()
    return sum(all(abs(a - b) <= tolerance for a, b in zip(p, colour)) for p in pixels)


def columns_with(image, box, colour, tolerance=40):
    """How many pixel columns of the box hold a pixel of that colour: how far a line reaches."""
    part = image.crop(box)
    width, height = part.size
    data = part.load()
    return sum(any(all(abs(a - b) <= tolerance for a, b in zip(data[x, y], colour)) for y in range(height)) for x in range(width))
