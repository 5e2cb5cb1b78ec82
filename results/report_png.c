/* report_png.c - the curve as PNG: the same SVG, drawn by librsvg on a cairo surface at twice its size. */
#include "report_internal.h"

#include <cairo.h>
#include <errno.h>
#include <librsvg/rsvg.h>
#include <stdlib.h>

static cairo_status_t put_bytes(void *file, const unsigned char *data, unsigned n)
{
    return fwrite(data, 1, n, file) == n ? CAIRO_STATUS_SUCCESS : CAIRO_STATUS_WRITE_ERROR;
}

int png_from_svg(const char *svg, size_t n, double scale, FILE *out)
{
    int error = -EIO;
    gdouble width = 0, height = 0;
    cairo_surface_t *surface = NULL;
    cairo_t *cairo = NULL;
    RsvgHandle *handle = rsvg_handle_new_from_data((const guint8 *)svg, n, NULL);
    if (!handle || !rsvg_handle_get_intrinsic_size_in_pixels(handle, &width, &height)) {
        goto out;
    }
    surface = cairo_image_surface_create(CAIRO_FORMAT_RGB24, (int)(width * scale), (int)(height * scale));
    cairo = cairo_create(surface);
    cairo_set_source_rgb(cairo, 1, 1, 1);
    cairo_paint(cairo);
    RsvgRectangle viewport = {.width = width * scale, .height = height * scale};
    if (!rsvg_handle_render_document(handle, cairo, &viewport, NULL)) {
        goto out;
    }
    cairo_surface_flush(surface);
    if (cairo_surface_write_to_png_stream(surface, put_bytes, out) == CAIRO_STATUS_SUCCESS) {
        error = 0;
    }
out:
    if (cairo) {
        cairo_destroy(cairo);
    }
    if (surface) {
        cairo_surface_destroy(surface);
    }
    if (handle) {
        g_object_unref(handle);
    }
    return error;
}

int report_png(const struct result *r, FILE *out)
{
    char *svg = NULL;
    size_t n = 0;
    FILE *text = open_memstream(&svg, &n);
    if (!text) {
        return -ENOMEM;
    }
    report_draw_curve(r, text, true, 1);
    int error = fclose(text) == 0 ? png_from_svg(svg, n, 2, out) : -ENOMEM;
    free(svg);
    return error;
}
