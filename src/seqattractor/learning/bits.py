"""Operations on bits, for kernels: of a word, an instruction each, which numba has no name for, and of patterns in words."""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import extending, types

from seqattractor.learning.compiled import part


def _number_of_bits_code(typingctx: Any, word: Any) -> Any:
    """How many bits of an unsigned word are set."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.ctpop(args[0])

    return types.int64(types.uint64), codegen


number_of_bits: Any = extending.intrinsic(_number_of_bits_code)


def _lowest_bit_code(typingctx: Any, word: Any) -> Any:
    """Position of the lowest bit that is set in an unsigned word, of which one must be."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.cttz(args[0], ir.Constant(ir.IntType(1), 1))

    return types.int64(types.uint64), codegen


lowest_bit: Any = extending.intrinsic(_lowest_bit_code)


@part
def count_differences(bits: Any, x: Any, where: Any, out: Any, count: int) -> None:
    """Set out[s] to the number of units, of those in `where`, in which x differs from packed pattern s, for s < count."""
    for s in range(count):
        out[s] = 0
    for word in range(len(x)):
        row, mask, here = bits[word], where[word], x[word]
        for s in range(count):
            out[s] += number_of_bits(mask & (row[s] ^ here))
