# SPDX-License-Identifier: Apache-2.0
"""Say what a thread, a process or a file works on, so that `culprit` can name it in its reports.

    import culprit_tag
    with culprit_tag.tag("checkpoint_write/run42/step80000/shard17"):
        torch.save(model, path)
    culprit_tag.checkpoint(file, "checkpoint_write/run42/step80000/shard17")

One file, standard library only, no privileges. The calling thread calls itself a few names and then what it
was called before, which the agent's probes see; see include/culprit.h. Where no agent runs, or the system is
not Linux, nothing comes of it. Labels are text of up to 127 bytes; longer ones are not taken.
"""

import contextlib
import os
import threading

LABEL_MAX = 127
_PIECE = 12
_COMM = "/proc/thread-self/comm"
_here = threading.local()


def _tell(label, letter, operand=b""):
    data = (label or "").encode()
    if len(data) > LABEL_MAX:
        return False
    try:
        comm = os.open(_COMM, os.O_RDWR | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        was = os.pread(comm, 16, 0).rstrip(b"\n")
        names = [b"ai:" + data[:_PIECE]]
        names += [b"ai+" + data[at : at + _PIECE] for at in range(_PIECE, len(data), _PIECE)]
        for name in names + [b"ai" + letter + operand, was]:
            os.write(comm, name)
    except OSError:
        return False
    finally:
        os.close(comm)
    return True


def thread(label):
    """Tag the calling thread, and those that it starts; None: no longer."""
    _here.label = label
    _tell(label, b"=")


def process(label):
    """Tag the whole process, and those that it starts; None: no longer. A thread's own tag counts more."""
    _tell(label, b"*")


@contextlib.contextmanager
def tag(label):
    """Tag the calling thread while the block runs."""
    before = getattr(_here, "label", None)
    thread(label)
    try:
        yield
    finally:
        thread(before)


def _keep(target, attributes):
    try:
        for name, value in attributes:
            os.setxattr(target, name, value.encode())
    except (OSError, AttributeError):
        return False
    return True


def _with_fd(target, work):
    if hasattr(target, "fileno"):
        return work(target.fileno())
    if isinstance(target, int):
        return work(target)
    fd = os.open(target, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    try:
        return work(fd)
    finally:
        os.close(fd)


def file(target, label):
    """Tag a file or folder that one owns: a path, a file object or a descriptor.

    False where the filesystem keeps no attributes: then only an agent that runs now knows.
    """

    def work(fd):
        _tell(label, b"@", b"%d" % fd)
        return _keep(fd, [("user.ai.tag", label)])

    return _with_fd(target, work)


def checkpoint(target, label, size=None, dense=False):
    """The same, and watch how it is written and keep its SHA-256: see `culprit io verify`.

    size: that it must have when it is complete; dense: it must have no holes.
    """
    words = ["sha256:enabled"]
    if size is not None:
        words.append("size=%d" % size)
    if dense:
        words.append("dense")

    def work(fd):
        _tell(label, b"!", b"%d" % fd)
        return _keep(fd, [("user.ai.checkpoint", " ".join(words)), ("user.ai.tag", label)])

    return _with_fd(target, work)
