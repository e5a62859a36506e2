"""Operations on the bits of a word, for kernels: an instruction each, which numba has no name for."""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import extending, types


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
