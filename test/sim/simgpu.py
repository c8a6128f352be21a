# SPDX-License-Identifier: Apache-2.0
"""The simulated GPU from Python: a thin ctypes layer over the simulated libraries.

They are looked for in $SIM_DIR, or else beside this file.
"""
import ctypes
import os

TO_DEVICE, TO_HOST = 1, 2  # cudaMemcpyKind
FLOAT, SUM = 7, 0  # ncclDataType_t, ncclRedOp_t
KERNEL, HOST, DEVICE, COMM = 0x1000, 0x2000, 0x3000, 0x4000  # never followed, only recorded


class GpuError(RuntimeError):
    """A call returned something other than 0."""


class _UniqueId(ctypes.Structure):
    """Passed by value, which puts it on the stack."""

    _fields_ = [("bytes", ctypes.c_ubyte * 128)]


class Gpu:
    """One process has one simulated device; each Gpu is a way to it.

    Keywords are the knobs of README.md without SIM_: kernel_us=200, sync="block". All calls give
    up the interpreter lock, as those of real frameworks do.
    """

    def __init__(self, **knobs):
        self._dir = os.environ.get("SIM_DIR") or os.path.dirname(os.path.abspath(__file__))
        self._runtime = self._load("libcudart.so.13")
        self._nccl = None
        self._functions = {}
        for name, value in knobs.items():
            self.set(name, value)

        # Bound once: looking a function up costs more than calling it.
        self._launch = self._bind(self._runtime, "cudaLaunchKernel", 8)
        self._copy = self._bind(self._runtime, "cudaMemcpy", 4)
        self._copy_async = self._bind(self._runtime, "cudaMemcpyAsync", 5)
        self._sync_device = self._bind(self._runtime, "cudaDeviceSynchronize", 0)
        self._sync_stream = self._bind(self._runtime, "cudaStreamSynchronize", 1)
        self._malloc = self._bind(self._runtime, "cudaMalloc", 2)
        self._free = self._bind(self._runtime, "cudaFree", 1)
        self._graph = self._bind(self._runtime, "cudaGraphLaunch", 2)

    def launch(self, n=1, stream=0):
        """Queue n kernels."""
        launch = self._launch
        for _ in range(n):
            _check(launch(KERNEL, 1, 1, 1, 1, 0, 0, stream), "cudaLaunchKernel")

    def launch_graph(self, graph=1, stream=0):
        """Queue a graph of $SIM_GRAPH_KERNELS kernels."""
        _check(self._graph(graph, stream), "cudaGraphLaunch")

    def copy_to_device(self, nbytes, stream=0):
        """Copy on a stream, or blocking where stream is None."""
        self._transfer(DEVICE, HOST, nbytes, TO_DEVICE, stream)

    def copy_to_host(self, nbytes, stream=0):
        """Copy on a stream, or blocking where stream is None."""
        self._transfer(HOST, DEVICE, nbytes, TO_HOST, stream)

    def sync(self, stream=None):
        """Wait for one stream, or for the whole device."""
        if stream is None:
            _check(self._sync_device(), "cudaDeviceSynchronize")
        else:
            _check(self._sync_stream(stream), "cudaStreamSynchronize")

    def malloc(self, nbytes):
        """Return the address of new device memory."""
        address = ctypes.c_long()
        _check(self._malloc(ctypes.addressof(address), nbytes), "cudaMalloc")
        return address.value

    def free(self, address):
        """Free device memory; waits for the device, as cudaFree does."""
        _check(self._free(address), "cudaFree")

    def unique_id(self):
        """A new id for a communicator: 128 bytes that all of its ranks need."""
        uid = _UniqueId()
        _check(self._libnccl().ncclGetUniqueId(ctypes.byref(uid)), "ncclGetUniqueId")
        return bytes(uid.bytes)

    def join(self, ranks, rank, uid, config=False):
        """Join a communicator as `rank` of `ranks`; waits for the others. Returns its handle."""
        lib, comm = self._libnccl(), ctypes.c_void_p()
        by_value = _UniqueId.from_buffer_copy(uid)
        if config:
            error = lib.ncclCommInitRankConfig(ctypes.byref(comm), ranks, by_value, rank, None)
        else:
            error = lib.ncclCommInitRank(ctypes.byref(comm), ranks, by_value, rank)
        _check(error, "ncclCommInitRank")
        return comm.value

    def join_all(self, ranks):
        """A communicator of this process alone: one handle for each rank."""
        comms = (ctypes.c_void_p * ranks)()
        self.nccl("ncclCommInitAll", ctypes.addressof(comms), ranks, 0)
        return list(comms)

    def split(self, comm, color, key):
        """The communicator of all ranks of that color; None where it is negative."""
        new = ctypes.c_void_p()
        self.nccl("ncclCommSplit", comm, color, key, ctypes.addressof(new), 0)
        return new.value

    def nccl(self, symbol, *args):
        """Any function of libnccl whose arguments are numbers."""
        if symbol not in self._functions:
            self._functions[symbol] = self._bind(self._libnccl(), symbol, len(args))
        _check(self._functions[symbol](*args), symbol)

    def all_reduce(self, count, stream=0, comm=COMM):
        """Queue an all-reduce of count floats. The first one loads libnccl."""
        self.nccl("ncclAllReduce", DEVICE, DEVICE, count, FLOAT, SUM, comm, stream)

    def set(self, name, value):
        """Turn one knob: set("kernel_us", 50)."""
        env = "SIM_" + name.upper()
        if isinstance(value, bool):
            value = int(value)
        if self._runtime.sim_set(env.encode(), str(value).encode()):
            raise ValueError("%s=%s: no such knob or value" % (env, value))

    def counter(self, symbol):
        """How often this process called symbol, of whichever library."""
        calls = self._runtime.sim_counter(symbol.encode())
        if calls < 0:
            raise KeyError(symbol)
        return calls

    def _transfer(self, to, source, nbytes, kind, stream):
        if stream is None:
            _check(self._copy(to, source, nbytes, kind), "cudaMemcpy")
        else:
            _check(self._copy_async(to, source, nbytes, kind, stream), "cudaMemcpyAsync")

    def _load(self, soname):
        lib = ctypes.CDLL(os.path.join(self._dir, soname))
        lib.sim_set.argtypes = [ctypes.c_char_p, ctypes.c_char_p]
        lib.sim_counter.argtypes = [ctypes.c_char_p]
        lib.sim_counter.restype = ctypes.c_long
        return lib

    def _libnccl(self):
        if self._nccl is None:
            self._nccl = self._load("libnccl.so.2")
            self._nccl.ncclCommInitRank.argtypes = [
                ctypes.c_void_p, ctypes.c_int, _UniqueId, ctypes.c_int]
            self._nccl.ncclCommInitRankConfig.argtypes = [
                ctypes.c_void_p, ctypes.c_int, _UniqueId, ctypes.c_int, ctypes.c_void_p]
        return self._nccl

    @staticmethod
    def _bind(lib, symbol, args):
        function = getattr(lib, symbol)
        function.argtypes = [ctypes.c_long] * args
        return function


def _check(error, symbol):
    if error:
        raise GpuError("%s returned %d" % (symbol, error))
