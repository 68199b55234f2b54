# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random statements on whole tiles: memory, reductions, scans, shapes, products."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from . import model
from .model import Value, bits, is_float, is_int, kind

#: The interpreter combines element by element in Python; more would take seconds.
SLOW = 128


class Tiles:
    # ---- memory

    def statement_load(self, depth: int) -> None:
        pick = self.random
        dtype = pick.choice(self.types)
        argument = self.input_array(dtype)
        size = float(np.abs(argument.value.astype(np.float64)).max()) if is_float(dtype) else 0.0
        shape = pick.choice(self.shapes + [()])
        how = pick.choice(["affine", "gather", "scalar"] if shape else ["scalar"])
        if how == "scalar":
            index = self.as_type(self.leaf(False, ()), "int32")
            text = f"tl.load({argument.name} + ({index.text} & 255))"
            return self._loaded(Value(text, dtype, (), size))
        if how == "gather":
            index = self.leaf(False, shape)
            last = 127 if index.dtype == "int8" else 255
            offsets, shape = f"({index.text} & {last})", index.shape
        else:
            offsets = self.offsets(shape)[3:]
            if math.prod(shape) > len(argument.value):
                offsets = f"(({offsets}) & 255)"
            elif pick.random() < 0.5:
                offsets = f"({offsets} + {self.pid.text} * 3) % 256"
        mask = ""
        if pick.random() < 0.5:
            condition = self.condition(shape)
            if condition.shape == shape:
                mask = f", mask={self.plain(condition)}"
                if pick.random() < 0.6:
                    other = self.float_literal() if is_float(dtype) else self.int_literal(dtype)
                    if dtype == "bfloat16" and "interpreter" in self.ways:
                        other = model.literal(1.0)
                    mask += f", other={other.text}"
                    size = max(size, other.size, 4.0)
        self._loaded(Value(f"tl.load({argument.name} + {offsets}{mask})", dtype, shape, size))

    def _loaded(self, value: Value) -> None:
        if value.dtype == "bfloat16" and "interpreter" in self.ways:
            value = replace(value, text=f"{value.text}.to(tl.float32)", dtype="float32")
        self.define(value)

    def statement_memory(self, depth: int) -> None:
        """Writes a tile to memory of this program and reads it back in another order."""
        pick = self.random
        found = [value for value in self.visible() if value.shape and value.dtype != "int1"
                 and not (value.dtype == "bfloat16" and "interpreter" in self.ways)]
        if not found:
            return self.statement_load(depth)
        value = pick.choice(found)
        size = math.prod(value.shape)
        # Not checked as an output of its own: what it holds may be inexact.
        argument = self.output(value.dtype, 2 * value.error if math.isfinite(value.error) else math.inf)
        mask = ""
        condition = self.condition(value.shape)
        if pick.random() < 0.4 and condition.shape == value.shape:
            mask = f", mask={self.plain(condition)}"
        self.emit(f"tl.store({argument.name} + 4096 * pid{self.offsets(value.shape)}, {value.text}{mask})")
        if pick.random() < 0.5:
            self.emit("tl.debug_barrier()")
        order = pick.choice(["same", "reverse", "scalar"])
        where = f"{argument.name} + 4096 * pid"
        base = max(value.size, 7.0)
        if order == "scalar":
            self.define(replace(value, text=f"tl.load({where} + {pick.randrange(size)})", shape=(), size=base,
                                product=False))
            return
        offsets = self.offsets(value.shape)[3:]
        if order == "reverse":
            offsets = f"({size - 1} - ({offsets}))"
        self.define(replace(value, text=f"tl.load({where} + {offsets})", size=base, product=False))

    def statement_atomic(self, depth: int) -> None:
        pick = self.random
        if depth and self.loops:
            return self.statement_assign(depth)
        dtype = pick.choice(["int32", "int32", "uint32", "int64", "float32"])
        shape = pick.choice([shape for shape in self.shapes if len(shape) == 1] + [()])
        value = self.as_type(self.expression(1, dtype == "float32", shape), dtype)
        value = self.as_shape(value, shape)
        if value is None:
            return self.statement_assign(depth)
        function = "add" if dtype == "float32" else pick.choice(["add", "max", "min", "and", "or", "xor", "xchg"])
        tolerance = 0.0
        if dtype == "float32":
            tolerance = 2 * value.error + 8 * model.EPSILON["float32"] * (value.size + 8)
            if not math.isfinite(tolerance):
                return self.statement_assign(depth)
        argument = self.output(dtype, tolerance)
        if dtype == "int32" and not shape and pick.random() < 0.3:
            self._named(f"tl.atomic_cas({argument.name} + 4096 * pid, {pick.choice([7, 8])}, {self.plain(value)})", dtype, ())
            return None
        mask = ""
        condition = self.condition(shape)
        if pick.random() < 0.5 and condition.shape == shape:
            mask = f", mask={self.plain(condition)}"
        sem = pick.choice(["", ", sem=\"relaxed\"", ", sem=\"acq_rel\""])
        text = f"tl.atomic_{function}({argument.name} + 4096 * pid{self.offsets(shape)}, {self.plain(value)}{mask}{sem})"
        if mask or pick.random() < 0.5:
            self.emit(text)  # what lanes that are switched off return is open
            return
        self.define(Value(text, dtype, shape, 7.0))

    # ---- along an axis

    def _tile(self, floating: bool | None = None, most: int = 1 << 20, exact: bool = False) -> Value | None:
        found = [value for value in self.visible() if value.shape and value.dtype != "int1"
                 and (floating is None or is_float(value.dtype) == floating) and math.prod(value.shape) <= most
                 and (value.exact or not exact) and not (value.dtype == "bfloat16" and "interpreter" in self.ways)]
        return self.random.choice(found) if found else None

    def _combine(self, floating: bool) -> str:
        name = self.fresh("combine_")
        body = self.random.choice(["tl.maximum(a, b)", "tl.minimum(a, b)"] if floating else
                                  ["a + b", "a ^ b", "a & b", "a | b", "tl.maximum(a, b)", "tl.minimum(b, a)", "a * b"])
        self.helpers.append(f"@triton.jit\ndef {name}(a, b):\n    return {body}\n")
        return name

    def statement_reduce(self, depth: int) -> None:
        pick = self.random
        tile = self._tile()
        if tile is None:
            return self.statement_assign(depth)
        axis = pick.choice([None, *range(len(tile.shape))])
        keep = axis is not None and pick.random() < 0.3
        count = math.prod(tile.shape) if axis is None else tile.shape[axis]
        shape = () if axis is None else tile.shape[:axis] + ((1,) if keep else ()) + tile.shape[axis + 1:]
        if keep and len(tile.shape) == 1:
            shape = (1,)
        options = f", axis={axis}" if axis is not None else pick.choice(["", ", axis=None"])
        if keep:
            options += ", keep_dims=True"
        dtype, floating = tile.dtype, is_float(tile.dtype)
        narrow = not floating and bits(dtype) < 32
        how = pick.choice(["sum", "max", "min", "arg", "indices", "custom", "xor"])
        if how == "sum":
            if floating:
                error = count * tile.error + 2 * count * (count + 2) * model.EPSILON[dtype] * tile.size \
                    + count * model.TINY[dtype]
                if dtype == "float16" and count * tile.size > 30000:
                    return self.statement_assign(depth)
                return self._named(f"tl.sum({tile.text}{options})", dtype, shape, count * tile.size, error)
            dtype = ("uint32" if kind(dtype) == "u" else "int32") if narrow else dtype
            return self._named(f"tl.sum({tile.text}{options})", dtype, shape)
        if how in ("max", "min"):
            dtype = "int32" if narrow else "float32" if floating and bits(dtype) < 32 else dtype
            zero = " + 0.0" if floating else ""
            return self._named(f"tl.{how}({tile.text}{options}){zero}", dtype, shape, tile.size, tile.error, tile.product)
        if how in ("arg", "indices") and axis is not None:
            if not tile.exact or tile.product:
                return self.statement_assign(depth)
            function = pick.choice(["max", "min"])
            if how == "arg":
                return self._named(f"tl.arg{function}({tile.text}{options})", "int32", shape)
            names = self.fresh(), self.fresh()
            self.emit(f"{names[0]}, {names[1]} = tl.{function}({tile.text}{options}, return_indices=True)")
            if not floating:  # with indices nothing is widened
                self.values.append(Value(names[0], dtype, shape))
            self.values.append(Value(names[1], "int32", shape))
            return None
        if how == "xor" and not floating and axis is not None and math.prod(tile.shape) <= SLOW:
            return self._named(f"tl.xor_sum({tile.text}{options})", dtype, shape)
        if math.prod(tile.shape) > SLOW or floating and tile.product or dtype == "bfloat16":
            return self.statement_assign(depth)
        combine = self._combine(floating)
        if axis is None:
            options = ", None"
        zero = " + 0.0" if floating else ""
        self._named(f"tl.reduce({tile.text}{options.replace('axis=', '')}, {combine}"
                    f"{', keep_dims=True' if keep else ''})".replace(", keep_dims=True, " + combine, ", " + combine)
                    + zero, dtype, shape, tile.size, tile.error)
        return None

    def _named(self, text: str, dtype: str, shape: tuple, size: float = 0.0, error: float = 0.0,
               product: bool = False) -> None:
        self.define(self.cut(Value(text, dtype, shape, size, error, product)))

    def statement_scan(self, depth: int) -> None:
        pick = self.random
        tile = self._tile()
        if tile is None:
            return self.statement_assign(depth)
        axis = pick.randrange(len(tile.shape))
        count = tile.shape[axis]
        reverse = pick.choice(["", ", reverse=True"])
        floating, dtype = is_float(tile.dtype), tile.dtype
        if dtype == "bfloat16":
            return self.statement_assign(depth)
        if pick.random() < 0.6 or math.prod(tile.shape) > SLOW or tile.product:
            error = count * tile.error + 2 * count * (count + 2) * model.EPSILON[dtype] * tile.size if floating else 0.0
            if dtype == "float16" and count * tile.size > 30000:
                return self.statement_assign(depth)
            if not floating and bits(dtype) < 32:
                dtype = "uint32" if kind(dtype) == "u" else "int32"
            return self._named(f"tl.cumsum({tile.text}, axis={axis}{reverse})", dtype, tile.shape, count * tile.size, error)
        combine = self._combine(floating)
        zero = " + 0.0" if floating else ""
        self._named(f"tl.associative_scan({tile.text}, {axis}, {combine}{reverse}){zero}", dtype, tile.shape, tile.size,
                    tile.error)
        return None

    def statement_sort(self, depth: int) -> None:
        pick = self.random
        tile = self._tile(most=256)
        if tile is None or self.odd:
            return self.statement_assign(depth)
        how = pick.choice(["sort", "flip", "gather", "histogram"])
        if how == "sort" and tile.exact and not tile.product and not (is_float(tile.dtype)):
            return self._named(f"tl.sort({tile.text}{pick.choice(['', ', descending=True'])})", tile.dtype, tile.shape)
        if how == "gather":
            index = self._tile(floating=False, most=256)
            if index is not None and index.shape == tile.shape:
                axis = pick.randrange(len(tile.shape))
                self.define(replace(tile, text=f"tl.gather({tile.text}, ({index.text} & {tile.shape[axis] - 1})"
                                               f".to(tl.int32), {axis})"))
                return None
        if how == "histogram" and len(tile.shape) == 1 and is_int(tile.dtype):
            return self._named(f"tl.histogram(({tile.text} & 15).to(tl.int32), 16)", "int32", (16,))
        if tile.shape[-1] == 1:
            return self.statement_assign(depth)
        self.define(replace(tile, text=f"tl.flip({tile.text}, {len(tile.shape) - 1})"))
        return None

    # ---- shapes

    def statement_shape(self, depth: int) -> None:
        pick = self.random
        tile = self._tile()
        if tile is None:
            return self.statement_assign(depth)
        shape = tile.shape
        total = math.prod(shape)
        how = pick.choice(["reshape", "trans", "expand", "join", "split", "ravel", "interleave", "cat"])

        def put(text: str, shape: tuple[int, ...]) -> None:
            self.define(replace(tile, text=text, shape=shape))

        if how == "reshape":
            factors = [n for n in range(1, total + 1) if total % n == 0 and n <= 64 and total // n <= 64]
            if factors:
                first = pick.choice(factors)
                new = pick.choice([(first, total // first)] + ([(total,)] if total <= 512 else []))
                return put(f"tl.reshape({tile.text}, {new})", new)
        if how == "trans" and len(shape) > 1:
            order = list(range(len(shape)))
            pick.shuffle(order)
            new = tuple(shape[d] for d in order)
            if len(shape) == 2 and order == [1, 0]:
                return put(pick.choice([f"tl.trans({tile.text})", f"{tile.text}.T", f"tl.permute({tile.text}, (1, 0))"]), new)
            return put(f"tl.permute({tile.text}, {tuple(order)})", new)
        if how == "expand":
            axis = pick.randint(0, len(shape))
            new = shape[:axis] + (1,) + shape[axis:]
            if len(shape) == 1 and pick.random() < 0.7:
                return put(f"{tile.text}{'[None, :]' if axis == 0 else '[:, None]'}", new)
            if len(new) <= 3:
                return put(f"tl.expand_dims({tile.text}, {axis})", new)
        if how in ("join", "interleave", "cat") and total <= 512 and len(shape) <= 2:
            other = pick.choice([value for value in self.visible() if value.shape == shape and value.dtype == tile.dtype])
            both = replace(tile, size=max(tile.size, other.size), error=max(tile.error, other.error),
                           product=tile.product or other.product)
            if how == "join":
                self.define(replace(both, text=f"tl.join({tile.text}, {other.text})", shape=shape + (2,)))
                return None
            if how == "cat" and len(shape) == 1:
                text = f"tl.cat({tile.text}, {other.text}, can_reorder=True)"
                self.define(replace(both, text=text, shape=(2 * shape[0],)))
                return None
            text = f"tl.interleave({tile.text}, {other.text})"
            self.define(replace(both, text=text, shape=shape[:-1] + (2 * shape[-1],)))
            return None
        if how == "split" and shape[-1] == 2 and len(shape) > 1:
            names = self.fresh(), self.fresh()
            self.emit(f"{names[0]}, {names[1]} = tl.split({tile.text})")
            self.values += [replace(tile, text=name, shape=shape[:-1]) for name in names]
            return None
        if how == "ravel":
            return put(f"tl.ravel({tile.text})", (total,))
        return self.statement_assign(depth)

    # ---- products of matrices

    def statement_dot(self, depth: int) -> None:
        pick = self.random
        if self.loops or pick.random() < 0.3:
            return self.statement_assign(depth)
        if self.odd:
            m, n, k = (pick.choice([1, 3, 5, 16, 17, 20]) for _ in range(3))
        else:
            m, n, k = (pick.choice([16, 32]) for _ in range(3))
        dtype = pick.choice(["float16", "float32", "int8"] + (["bfloat16"] if "bfloat16" in self.types else []))
        if dtype == "int8" and not self.odd:
            k = 32  # the least that a GPU takes
        argument = self.input_array(dtype)
        size = 4.0
        a, b = self.fresh("a"), self.fresh("b")
        for name, (rows, columns) in ((a, (m, k)), (b, (k, n))):
            offset = pick.randint(0, 9)
            self.emit(f"{name} = tl.load({argument.name} + ({offset}{self.offsets((rows, columns))}) % 256)")
        precision = ", input_precision=\"ieee\"" if dtype == "float32" else ""
        if dtype == "int8":
            precision = ", out_dtype=tl.int32"
        error = 0.0 if dtype == "int8" else 4 * k * (k + 4) * model.EPSILON["float32"] * size * size
        result = "int32" if dtype == "int8" else "float32"
        accumulator = ""
        total = 0.0 if dtype == "int8" else k * size * size
        if pick.random() < 0.4:
            number = self.as_shape(self.as_type(self.leaf(result == "float32", ()), result), (m, n))
            accumulator = f", acc={number.text}"
            if dtype != "int8":
                total += number.size
                error += number.error + 4 * (k + 4) * model.EPSILON["float32"] * number.size
        self._named(f"tl.dot({a}, {b}{accumulator}{precision})", result, (m, n), total, error)
        return None

    # ---- block pointers and descriptors

    def statement_block(self, depth: int) -> None:
        pick = self.random
        shapes = [shape for shape in self.shapes if len(shape) == 2]
        if not shapes or self.loops:
            return self.statement_assign(depth)
        rows, columns = shape = pick.choice(shapes)
        dtype = pick.choice([t for t in self.types if not (t == "bfloat16" and "interpreter" in self.ways)])
        argument = self.input_array(dtype)
        height, width = pick.choice([(16, 16), (8, 32), (5, 48)])
        size = float(np.abs(argument.value.astype(np.float64)).max()) if is_float(dtype) else 0.0
        name = self.fresh("block")
        if pick.random() < 0.3 and columns * bits(dtype) >= 128 and width * bits(dtype) % 128 == 0:
            self.emit(f"{name} = tl.make_tensor_descriptor({argument.name}, shape=[{height}, {width}], "
                      f"strides=[{width}, 1], block_shape=[{rows}, {columns}])")
            step = 128 // bits(dtype)
            first, second = pick.choice([0, 1, 4]), pick.choice([0, step])
            text = f"{name}.load([{first}, {second}])"
        else:
            order = pick.choice(["(1, 0)", "(0, 1)"])
            first, second = pick.choice([0, 2, -1]), pick.choice([0, 3])
            self.emit(f"{name} = tl.make_block_ptr({argument.name}, ({height}, {width}), ({width}, 1), "
                      f"({first}, {second}), ({rows}, {columns}), {order})")
            if pick.random() < 0.4:
                self.emit(f"{name} = tl.advance({name}, ({pick.choice([0, 1])}, {pick.choice([0, 2])}))")
            padding = ", padding_option=\"zero\"" if pick.random() < 0.7 else ""
            text = f"tl.load({name}, boundary_check=(0, 1){padding})"
        value = self.define(Value(text, dtype, shape, size))
        if pick.random() < 0.4:
            # Written through a block pointer whose window hangs over the edge.
            target = self.output(dtype, 0.0)
            pointer = self.fresh("block")
            self.emit(f"{pointer} = tl.make_block_ptr({target.name} + 4096 * pid, ({pick.choice([rows, 3])}, {columns}), "
                      f"({columns}, 1), ({pick.choice([0, 1])}, 0), ({rows}, {columns}), (1, 0))")
            self.emit(f"tl.store({pointer}, {value.text}, boundary_check=(0, 1))")
