"""Directories of 100,000 names, with names created and removed while they are listed."""

import pytest
from support import bare_nfs as nfs
from support.bare_nfs import Client

N = 100_000
WINDOW = 500


def in_bulk(client, calls):
    """Sends (procedure, arguments) in windows; every status must be 0."""
    n = 0
    for procedure, arguments in calls:
        client.send(procedure, arguments)
        n += 1
        if n % WINDOW == 0:
            assert all(client.receive().status == 0 for _ in range(WINDOW))
    assert all(client.receive().status == 0 for _ in range(n % WINDOW))


def creates(directory, names):
    return ((nfs.CREATE, nfs.fh(directory) + nfs.opaque(name) + nfs.u32(1) + nfs.NOTHING_SET) for name in names)


def removes(directory, names):
    return ((nfs.REMOVE, nfs.fh(directory) + nfs.opaque(name)) for name in names)


@pytest.fixture
def clients(target):
    server = target()
    lister, changer = Client(server.address, server.port), Client(server.address, server.port)
    root = lister.mount(server.export)
    yield lister, changer, root
    lister.close()
    changer.close()


@pytest.mark.parametrize("plus", [False, True])
def test_every_name_once_with_names_created_and_removed_meanwhile(clients, plus):
    lister, changer, root = clients
    staying = [f"stays.{i:06}" for i in range(N)]
    leaving = [f"leaves.{i:06}" for i in range(N // 10)]
    # those that leave lie among those that stay
    mixed = [name for i, s in enumerate(staying) for name in ([s, leaving[i // 10]] if i % 10 == 0 else [s])]
    in_bulk(changer, creates(root, mixed))
    seen, cookies, n_comers = {}, [], 0
    left = iter(leaving)
    for i, (name, cookie) in enumerate(lister.list(root, plus=plus, count=32768)):
        seen[name] = seen.get(name, 0) + 1
        cookies.append(cookie)
        if i % 2000 == 0:
            in_bulk(changer, removes(root, [name for _, name in zip(range(200), left)]))
            in_bulk(changer, creates(root, [f"comes.{n_comers + j:06}" for j in range(100)]))
            n_comers += 100
    assert all(seen.get(name) == 1 for name in staying)
    assert all(n == 1 for n in seen.values())
    assert cookies == sorted(set(cookies)), "cookies ascend"
    assert set(seen) - set(staying) - set(leaving) <= {".", ".."} | {f"comes.{i:06}" for i in range(n_comers)}


def test_cookie_of_a_removed_name_goes_on_behind_it(clients):
    lister, changer, root = clients
    in_bulk(changer, creates(root, [f"f{i}" for i in range(1000)]))
    listing = lister.list(root, count=1024)
    first = [next(listing)[0] for _ in range(20)]
    in_bulk(changer, removes(root, [f"f{i}" for i in range(900)]))
    rest = [name for name, _ in listing]
    assert rest[-100:] == [f"f{i}" for i in range(900, 1000)]
    assert not set(first) & set(rest)
