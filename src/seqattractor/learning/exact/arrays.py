"""Arrays that kernels work in: zeros, whose vectors lie within cache lines, and copies of some numbers.

For numba, `np.zeros` and the assignment of a part of an array are functions to compile anew for each type and shape: two of the
nine seconds that the kernels of a first fit took. These are a call of its allocator and a copy of bytes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from llvmlite import ir
from numba import extending, types
from numba.core import cgutils
from numba.np.arrayobj import make_array, populate_array

LINE = 64  # bytes of a cache line; a vector that lies across two takes two accesses

_INDEX = ir.IntType(64)


def _zeros(context: Any, builder: Any, kind: Any, shape: Sequence[Any]) -> Any:
    """The LLVM code of a new array of some type."""
    number = context.get_data_type(kind.dtype)
    itemsize = ir.Constant(_INDEX, context.get_abi_sizeof(number))
    sizes = [itemsize]  # of an element, of a row, of all
    for length in reversed(shape):
        sizes.append(builder.mul(sizes[-1], length))
    block = context.nrt.meminfo_alloc_aligned(builder, sizes[-1], LINE)
    data = context.nrt.meminfo_data(builder, block)
    cgutils.memset(builder, data, sizes[-1], 0)
    array = make_array(kind)(context, builder)
    populate_array(
        array,
        data=builder.bitcast(data, number.as_pointer()),
        shape=cgutils.pack_array(builder, shape, ty=_INDEX),
        strides=cgutils.pack_array(builder, sizes[-2::-1], ty=_INDEX),
        itemsize=itemsize,
        meminfo=block,
    )
    return array._getvalue()


def _line_code(typingctx: Any, length: Any, like: Any) -> Any:
    """Zeros of shape (length,), of the type `like` or of that of an array."""
    kind = types.Array(like.dtype, 1, "C")

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return _zeros(context, builder, kind, args[:1])

    return kind(types.int64, like), codegen


def _slots_code(typingctx: Any, number: Any, width: Any, like: Any) -> Any:
    """Zeros of shape (number, width), of the type `like` or of that of an array."""
    kind = types.Array(like.dtype, 2, "C")

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return _zeros(context, builder, kind, args[:2])

    return kind(types.int64, types.int64, like), codegen


def _copy_code(typingctx: Any, target: Any, at: Any, source: Any, start: Any, count: Any) -> Any:
    """Write target.flat[at : at + count] = source.flat[start : start + count], both of one type."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        there, here = (
            builder.gep(make_array(kind)(context, builder, array).data, [position])
            for kind, array, position in ((target, args[0], args[1]), (source, args[2], args[3]))
        )
        cgutils.raw_memmove(builder, there, here, args[4], context.get_abi_sizeof(context.get_data_type(target.dtype)))
        return context.get_dummy_value()

    whole = types.int64
    return types.void(target, whole, source, whole, whole), codegen


line: Any = extending.intrinsic(_line_code)
slots: Any = extending.intrinsic(_slots_code)
copy: Any = extending.intrinsic(_copy_code)
