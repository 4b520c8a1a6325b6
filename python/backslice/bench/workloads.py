"""The workloads. Each is plain data, so that it can be sent to a peer's process."""

from dataclasses import asdict, dataclass
from typing import Any

ITEM_SIZE = {"uint8": 1, "float16": 2, "float32": 4, "float64": 8}

# An axis of a slice: an int, or (start, stop, step) with None for missing values.
Item = int | tuple[int | None, int | None, int | None]
ALL: Item = (None, None, None)


@dataclass(frozen=True)
class Workload:
    name: str
    shape: tuple[int, ...]
    index: tuple[Item, ...]
    # or into (a kept array), accumulate, forward, buffer (a GradBuffer whose slice moves), many (slices x[:, t])
    kind: str = "gradient"
    dtype: str = "float32"
    slices: int = 1  # for many
    threads: int = 0  # 0: all
    group: str = "dense"

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)

    @property
    def output_bytes(self) -> int:
        size = ITEM_SIZE[self.dtype]
        for extent in self.shape if self.kind != "forward" else self.result_shape:
            size *= extent
        return size

    @property
    def result_shape(self) -> tuple[int, ...]:
        shape = []
        for extent, item in zip(self.shape, self.index + (ALL,) * len(self.shape), strict=False):
            if not isinstance(item, int):
                shape.append(len(range(*slice(*item).indices(extent))))
        return tuple(shape)

    @property
    def selected_bytes(self) -> int:
        """The bytes of all slices together."""
        size = ITEM_SIZE[self.dtype] * self.slices
        for extent in self.result_shape:
            size *= extent
        return size

    @property
    def moved_bytes(self) -> int:
        """The bytes that must be read and written."""
        return self.selected_bytes + self.output_bytes


@dataclass(frozen=True)
class Container:
    """An operation on a container. What `case` holds, peers/containers.py turns into arrays."""

    name: str
    operation: str
    case: dict[str, Any]
    output_bytes: int
    input_bytes: int = 0  # bytes to be read, if a limit is to be shown
    group: str = "containers"
    kind: str = "container"
    dtype: str = "float32"
    threads: int = 0

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


@dataclass(frozen=True)
class Chunked:
    """The gradient of a slice of a Dask array, in chunks."""

    name: str
    shape: tuple[int, ...]
    index: tuple[Item, ...]
    chunks: tuple[Any, ...]  # one entry per axis: a size, or a list of all sizes
    dy_chunks: tuple[Any, ...]
    scheduler: str = "threads"
    threads: int = 0  # 0: all; for processes, their number
    dtype: str = "float32"
    group: str = "dask"
    kind: str = "dask"

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)

    @property
    def output_bytes(self) -> int:
        return Workload(self.name, self.shape, self.index, dtype=self.dtype).output_bytes


AnyWorkload = Workload | Container | Chunked


def dense(name: str, shape: tuple[int, ...], *index: Item, **more: Any) -> Workload:
    return Workload(name, shape, index, **more)


SQUARE = (4096, 4096)
ROWS: Item = (1024, 3072, None)

# The eight workloads of the geometric means: outputs of 4 MB and more.
DENSE = [
    dense("(4096,4096)[1024:3072]", SQUARE, ROWS),
    dense("(4096,4096)[:,1024:3072]", SQUARE, ALL, ROWS),
    dense("(4096,4096)[:,::2]", SQUARE, ALL, (None, None, 2)),
    dense("(4096,4096)[::2]", SQUARE, (None, None, 2)),
    dense("(4096,4096)[:,::-1]", SQUARE, ALL, (None, None, -1)),
    dense("(512,128,512)[:,64]", (512, 128, 512), ALL, 64),
    dense("(32,64,112,112)[:,:,8:104,8:104]", (32, 64, 112, 112), ALL, ALL, (8, 104, None), (8, 104, None)),
    dense("(1024,1024)[128:896,128:896]", (1024, 1024), (128, 896, None), (128, 896, None)),
]
SMALL = [
    dense("(64,64)[8:40,8:40]", (64, 64), (8, 40, None), (8, 40, None), group="small"),
    dense("(1024)[100:900] into an array that is kept", (1024,), (100, 900, None), kind="into", group="small"),
    dense("(2^26)[100:200]", (2**26,), (100, 200, None), group="sparse"),
    dense("(2^26)[::671089]", (2**26,), (None, None, 671089), group="sparse"),
]
DTYPES = [
    dense(f"(4096,4096)[:,1024:3072] {dtype}", SQUARE, ALL, ROWS, dtype=dtype, group="dtypes")
    for dtype in ("uint8", "float16", "float64")
]
OTHER = [
    dense("accumulate (4096,4096)[:,1024:3072]", SQUARE, ALL, ROWS, kind="accumulate", group="other"),
    dense("forward (4096,4096)[:,::2]", SQUARE, ALL, (None, None, 2), kind="forward", group="other"),
    dense("forward (4096,4096)[:,1024:3072]", SQUARE, ALL, ROWS, kind="forward", group="other"),
    dense("GradBuffer (65536,1024)[k:k+64]", (65536, 1024), (0, 64, None), kind="buffer", group="other"),
    dense("(4096,4096)[:,1024:3072] 1 thread", SQUARE, ALL, ROWS, threads=1, group="other"),
]
MANY = [
    dense(f"{t} slices x[:,t] of (64,512,1024)", (64, 512, 1024), ALL, 0, kind="many", slices=t, group="many")
    for t in (32, 128, 512)
]


def half_of_the_rows(rows: int) -> Workload:
    return dense(f"curve {rows * 2048} bytes", (rows, 512), (rows // 4, 3 * rows // 4, None), group="curve")


# Sizes from 4 KiB to 1 GiB.
CURVE = [half_of_the_rows(2 << k) for k in range(0, 19, 2)]


def sparse(operation: str, rows: int, rank: int, selected: str, share: float) -> Container:
    index_bytes, kept = rows * rank * 8, int(rows * share)
    output, read = 4 * rows, index_bytes + kept * (rank * 8 + 4)
    if operation == "sparse_slice":
        output, read = kept * (rank * 8 + 4), index_bytes + 4 * rows
    name = f"{operation} {rows:,} rows, rank {rank}, {selected}"
    case = {"rows": rows, "rank": rank, "selected": selected, "share": share}
    return Container(name, operation, case, output, read, "sparse slices")


SPARSE = [
    sparse(operation, rows, rank, selected, share)
    for rows, rank in ((10_000, 2), (1_000_000, 2), (10_000_000, 2), (10_000, 4), (1_000_000, 4), (10_000_000, 4))
    for selected, share in (("half the columns", 0.5), ("half the rows", 0.5), ("1 % of the columns", 0.01))
    for operation in ("sparse_slice_grad", "sparse_slice")
] + [sparse("sparse_slice_grad any order", 10_000_000, 2, "half the columns, shuffled", 0.5)]

ELEMENT = 128 * 256 * 4  # bytes
ARRAYS = [
    Container("TensorArray: 1,000 writes of (128,256)", "array writes", {"count": 1000}, 1000 * ELEMENT),
    Container("TensorArray: 1,000 writes by 2 threads", "array writes by 2 threads", {"count": 1000}, 1000 * ELEMENT),
    Container(
        "TensorArray: scatter, 4 aggregated scatters, gather of (1000,128,256)", "array aggregates",
        {"count": 1000, "terms": 4}, 1000 * ELEMENT, 4 * 1000 * ELEMENT,
    ),
    *(
        Container(f"TensorArray: stack of a contiguous ({n},128,256)", "array stack", {"count": n}, n * ELEMENT)
        for n in (10, 1000)
    ),
]  # fmt: skip

RAGGED = [
    Container(
        f"ragged {operation}: {rows:,} rows of about {length:,}",
        f"ragged {operation}",
        {"rows": rows, "length": length},
        rows * length * 4,
    )
    for rows, length in ((1000, 50), (100_000, 50), (100, 50_000))
    for operation in (
        "encode", "decode", "gradient", "gradient, half missing", "gradient, all missing", "gradient, shuffled",
        "gradient, separate pieces",
    )
]  # fmt: skip

CONTAINERS = [*SPARSE, *ARRAYS, *RAGGED]

LARGE, SIDE = (32768, 32768), 4096  # 4 GiB in chunks of 64 MiB


def chunked(text: str, index: tuple[Item, ...], **more: Any) -> Chunked:
    scheduler, threads = more.get("scheduler", "threads"), more.get("threads", 0)
    how = f"1 {scheduler.rstrip('s')}" if threads == 1 else scheduler
    shape, sides = more.pop("shape", LARGE), (SIDE, SIDE)
    chunks, dy_chunks = more.pop("chunks", sides), more.pop("dy_chunks", sides)
    name = f"dask, {how}: ({','.join(map(str, shape))})[{text}]"
    return Chunked(name, shape, index, chunks, dy_chunks, **more)


BORDER: Item = (100, -100, None)
PADDED = (100, *[SIDE] * 7, SIDE - 200, 100)  # the chunks that da.pad makes of such a dy
DASK = [
    chunked("100:-100,100:-100", (BORDER, BORDER)),
    chunked("100:-100,100:-100", (BORDER, BORDER), threads=1),
    chunked("8192:24576", ((8192, 24576, None),)),
    chunked("1000:,:", ((1000, None, None),)),
    chunked("::-1,100:-100", ((None, None, -1), BORDER)),
    chunked("::2,::2", ((None, None, 2), (None, None, 2))),
    chunked("100:-100 of chunks (1024,32768)", (BORDER,), chunks=(1024, 32768), dy_chunks=(1024, 32768)),
    chunked("100:-100,100:-100 in the chunks of da.pad", (BORDER, BORDER), chunks=(PADDED, PADDED)),
    chunked("100:-100,100:-100", (BORDER, BORDER), shape=(4096, 4096), chunks=(256, 256), dy_chunks=(256, 256)),
    chunked("100:-100,100:-100", (BORDER, BORDER), shape=(8192, 8192), scheduler="processes",
            chunks=(2048, 2048), dy_chunks=(2048, 2048)),
]  # fmt: skip


def wide(dtype: str) -> list[Workload]:
    """Gradients of 1 GiB; narrower items have more of them along the last axis."""
    narrow = 4 // ITEM_SIZE[dtype]
    rows, columns = 16384, 16384 * narrow
    left, right = columns // 4, columns * 3 // 4

    def of(text: str, shape: tuple[int, ...], *index: Item) -> Workload:
        name = f"({','.join(map(str, shape))})[{text}] {dtype}".removesuffix(" float32")
        return dense(name, shape, *index, dtype=dtype, group="dense" if dtype == "float32" else "dtypes")

    square, crop = (rows, columns), (256, 64, 112, 112 * narrow)
    return [
        of("4096:12288", square, (4096, 12288, None)),
        of(f":,{left}:{right}", square, ALL, (left, right, None)),
        of(f":,{left + 1}:{right}", square, ALL, (left + 1, right, None)),
        of("::2", square, (None, None, 2)),
        of(":,::2", square, ALL, (None, None, 2)),
        of(":,::3", square, ALL, (None, None, 3)),
        of(":,::-1", square, ALL, (None, None, -1)),
        of(":,64", (4096, 128, 512 * narrow), ALL, 64),
        of(f":,:,8:104,{8 * narrow}:{104 * narrow}", crop, ALL, ALL, (8, 104, None), (8 * narrow, 104 * narrow, None)),
    ]


ON_CUDA: list[AnyWorkload] = [
    *wide("float32"), SMALL[0], *wide("float16"), *wide("uint8"),
    dense("forward (16384,16384)[:,1024:3072]", (16384, 16384), ALL, ROWS, kind="forward", group="other"),
    dense("512 slices x[:,t] of (256,512,1024)", (256, 512, 1024), ALL, 0, kind="many", slices=512, group="many"),
]  # fmt: skip

ALL_WORKLOADS: list[AnyWorkload] = [*DENSE, *SMALL, *DTYPES, *OTHER, *MANY, *CURVE, *CONTAINERS, *DASK]
QUICK: list[AnyWorkload] = [DENSE[-1], SMALL[0]]
