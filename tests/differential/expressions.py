# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random expressions, with the bounds of what they compute."""

from __future__ import annotations

import math
from dataclasses import replace

from . import model
from .model import Value, bits, broadcast, is_float, is_int, kind, literal, promote
from .tiles import Tiles

#: No float gets larger than this before it is cut.
LARGEST = 3000.0


class Expressions(Tiles):
    in_helper = False

    # ---- what is there

    def visible(self) -> list[Value]:
        return [value for value in self.values if value.text not in self.hidden and not value.literal]

    def variables(self, floating: bool | None, shape: tuple[int, ...], exact: bool = False) -> list[Value]:
        """Variables that broadcast to `shape`."""
        return [value for value in self.visible()
                if (floating is None or is_float(value.dtype) == floating) and value.dtype != "int1" and not value.literal
                and broadcast(value.shape, shape) == shape and (value.exact or not exact)]

    # ---- leaves

    def int_literal(self, beside: str) -> Value:
        """A number that fits the type of the other operand."""
        pick = self.random
        if pick.random() < 0.15:  # arithmetic that happens at compile time, as Python does it
            a, b = pick.randint(1, 40), pick.randint(1, 9)
            text = pick.choice([f"({a} // {b})", f"({a} % {b})", f"({a} * 2 + {b})", f"({b} ** 2)", f"({a} if {b} > 4 else {b})"])
            return Value(text, "int32", literal=True)
        constants = [value for value in self.values if value.literal]  # of unrolled loops
        if constants and pick.random() < 0.5:
            return pick.choice(constants)
        number = pick.choice([0, 1, 2, 3, 5, 7, 31, 100, pick.randint(0, 100)])
        if kind(beside) == "i" and pick.random() < 0.3:
            if pick.random() < 0.3:
                return Value(f"(-{number + 1} // 2)", "int32", literal=True)
            number = -number
        return literal(number)

    def float_literal(self) -> Value:
        return literal(self.random.choice([0.0, 1.0, 0.5, -1.5, 2.0, 0.25, -3.0, self.random.randint(-16, 16) / 8]))

    def leaf(self, floating: bool, shape: tuple[int, ...], exact: bool = False) -> Value:
        found = self.variables(floating, shape, exact)
        if found and self.random.random() < 0.9:
            full = [value for value in found if value.shape == shape]
            return self.random.choice(full if full and self.random.random() < 0.6 else found)
        if not floating:
            if not self.in_helper and self.random.random() < 0.2:
                return self.scalar(self.random.choice(["int32", "int64", "int32"]), -9, 9)
            found = self.variables(False, shape)
            return self.random.choice(found) if found else Value("tl.full((1,), 5, tl.int32)", "int32", (1,)) \
                if shape else Value("tl.cast(5, tl.int32)", "int32")
        if not self.in_helper and self.random.random() < 0.2:
            return self.scalar("float32", -9, 9)
        return self.as_type(self.leaf(False, shape), self.random.choice(self.float_types()))

    def float_types(self) -> list[str]:
        return [dtype for dtype in self.types if is_float(dtype)] or ["float32"]

    def int_types(self) -> list[str]:
        return [dtype for dtype in self.types if is_int(dtype)]

    def small_exact_float(self, shape: tuple[int, ...]) -> Value:
        found = [value for value in self.variables(True, shape, exact=True) if value.size <= 8]
        if found and self.random.random() < 0.7:
            return self.random.choice(found)
        source = self.leaf(False, shape)
        return Value(f"({source.text} & 7).to(tl.float32)", "float32", source.shape, 7.0)

    # ---- types and shapes

    def as_type(self, value: Value, dtype: str) -> Value:
        source = value.dtype
        if source == dtype and not value.literal:
            return value
        text = f"tl.cast({value.text}, tl.{dtype})" if value.literal else f"{value.text}.to(tl.{dtype})"
        if value.literal:
            size = value.size
            if is_float(dtype) and is_int(source):
                size = 200.0
            if is_int(dtype) and is_float(source):
                text = f"tl.cast({abs(int(value.size))}, tl.{dtype})"
            if kind(dtype) == "u":
                text = f"tl.cast({self.random.randint(0, 100)}, tl.{dtype})"
            return Value(text, dtype, size=size)
        if is_float(source) and is_float(dtype):
            return self._float_to_float(value, dtype)
        if is_float(dtype):
            if source == "int1":
                return Value(text, dtype, value.shape, 1.0)
            limit = self.random.choice(["& 63", "% 61", "& 7"])
            return Value(f"({value.text} {limit}).to(tl.{dtype})", dtype, value.shape, 63.0)
        if is_float(source):
            if not value.exact:
                return self.as_type(self.leaf(False, value.shape), dtype)
            if dtype == "int1":
                return Value(f"({value.text} != 0.0)", dtype, value.shape)
            low = "0.0" if kind(dtype) == "u" else "-100.0"
            return Value(f"tl.clamp({value.text}, {low}, 100.0).to(tl.{dtype})", dtype, value.shape)
        if dtype == "int1":
            return Value(f"({value.text} != 0)", dtype, value.shape)
        return Value(text, dtype, value.shape)

    def _float_to_float(self, value: Value, dtype: str) -> Value:
        if dtype == "float16" and value.size > LARGEST:
            value = self.cut(value)
            return self.as_type(value, dtype)
        error = value.error
        if bits(dtype) < bits(value.dtype) or dtype == "bfloat16":
            if error:
                error += value.size * 2 * model.EPSILON[dtype] + model.TINY[dtype]
            if dtype == "bfloat16" and "interpreter" in self.ways:
                error += value.size * 2.0**-6  # it does not round
        return Value(f"{value.text}.to(tl.{dtype})", dtype, value.shape, value.size, error, value.product)

    def cut(self, value: Value) -> Value:
        if value.size <= LARGEST:
            return value
        # The bounds are fp32.
        dtype = "float64" if value.dtype == "float64" else "float32"
        return replace(value, text=f"tl.clamp({value.text}, -64.0, 64.0)", dtype=dtype, size=64.0, literal=False)

    def as_shape(self, value: Value, shape: tuple[int, ...]) -> Value | None:
        if value.shape == shape and not value.literal:
            return value
        if value.literal:
            return replace(value, text=f"tl.full({shape}, {value.text}, tl.{value.dtype})" if shape else
                           f"tl.cast({value.text}, tl.{value.dtype})", shape=shape, literal=False)
        if broadcast(value.shape, shape) != shape:
            return None
        if not value.shape or len(value.shape) == len(shape):
            form = self.random.choice(["tl.broadcast_to({0}, {1})", "tl.broadcast_to({0}, {2})"])
            return replace(value, text=form.format(value.text, shape, ", ".join(map(str, shape))), shape=shape)
        if value.dtype == "int1":
            return replace(value, text=f"({value.text} & (tl.zeros({shape}, tl.int32) == 0))", shape=shape)
        return replace(value, text=f"({value.text} + tl.zeros({shape}, tl.{value.dtype}))", shape=shape)

    # ---- expressions

    def any_expression(self, depth: int) -> Value:
        shape = self.random.choice(self.shapes + [()])
        if self.random.random() < 0.12:
            return self.condition(shape)
        return self.expression(depth, self.random.random() < 0.45, shape)

    def expression(self, depth: int, floating: bool, shape: tuple[int, ...], exact: bool = False) -> Value:
        """Of a shape that broadcasts to `shape`."""
        if depth <= 0 or self.random.random() < 0.1:
            return self.leaf(floating, shape, exact)
        for _ in range(4):
            value = (self.float_operation if floating else self.int_operation)(depth, shape, exact)
            if value is not None and (value.exact or not exact) and math.isfinite(value.size):
                return self.cut(value)
        return self.leaf(floating, shape, exact)

    def pair(self, depth: int, floating: bool, shape: tuple[int, ...], exact: bool = False) -> tuple[Value, Value]:
        a = self.expression(depth - 1, floating, shape, exact)
        if self.random.random() < 0.3:
            b = self.float_literal() if floating else self.int_literal(a.dtype)
            if a.literal:
                b = self.leaf(floating, shape, exact)
        elif floating and self.random.random() < 0.1:
            source = self.leaf(False, shape)  # an integer beside a float
            b = Value(f"({source.text} & 7)", source.dtype, source.shape, 7.0)
            if a.literal:
                a = self.leaf(True, shape, exact)
        else:
            b = self.expression(depth - 1, floating, shape, exact)
        if a.literal and b.literal:
            b = self.as_shape(b, ())
        return (b, a) if self.random.random() < 0.3 and not (b.literal and kind(a.dtype) == "u") else (a, b)

    def int_operation(self, depth: int, shape: tuple[int, ...], exact: bool) -> Value | None:
        pick = self.random
        what = pick.choices(
            ["arith", "bits", "shift", "div", "unary", "where", "minmax", "cast", "compare", "mulhi", "from_float"],
            [6, 4, 3, 4, 2, 3, 3, 3, 1, 1, 2])[0]
        if what == "unary":
            a = self.expression(depth - 1, False, shape)
            form = pick.choice(["(-{})", "(~{})", "tl.abs({})", "{}.abs()"])
            if form == "(-{})" and kind(a.dtype) == "u":
                form = "(~{})"  # negation of unsigned values is refused by some
            return self._int(form.format(a.text), a.dtype, a.shape)
        if what == "cast":
            return self.as_type(self.expression(depth - 1, False, shape), pick.choice(self.int_types()))
        if what == "from_float":
            return self.as_type(self.expression(depth - 1, True, shape, exact=True), pick.choice(self.int_types()))
        if what == "compare":
            return self.as_type(self.condition(shape, depth - 1), pick.choice(self.int_types()))
        if what == "where":
            a, b = self.pair(depth, False, shape)
            condition = self.condition(shape, depth - 1)
            return self._where(condition, a, b)
        if what == "mulhi":
            dtype = pick.choice(["uint32", "int32"])
            a = self.as_type(self.leaf(False, shape), dtype)
            b = self.as_type(self.leaf(False, shape), dtype)
            # In the interpreter a signed operand is no bit pattern.
            a, b = (Value(f"({v.text} & 0x7fffffff)", dtype, v.shape) for v in (a, b)) if dtype == "int32" else (a, b)
            return self._int(f"tl.umulhi({a.text}, {b.text})", dtype, broadcast(a.shape, b.shape))
        a, b = self.pair(depth, False, shape)
        dtype = promote(a, b)
        common = broadcast(a.shape, b.shape)
        if what == "div":
            if kind(a.dtype) != kind(b.dtype) or b.literal or a.literal:
                if a.literal:
                    a = self.leaf(False, shape)
                b = self.as_type(b, a.dtype)
                dtype = a.dtype
                common = broadcast(a.shape, b.shape)
            divisor = pick.choice([f"(({b.text} & 7) + 1)", str(pick.choice([1, 2, 3, 7, 10]))])
            if divisor.isdigit():
                common, dtype = a.shape, a.dtype
            return self._int(f"({a.text} {pick.choice(['//', '%'])} {divisor})", dtype, common)
        if what == "shift":
            if a.literal:
                a = self.leaf(False, shape)
            if b.literal or pick.random() < 0.4:
                amount = str(pick.randint(0, 7))
                return self._int(f"({a.text} {pick.choice(['<<', '>>'])} {amount})", a.dtype, a.shape)
            dtype = promote(a, b)
            common = broadcast(a.shape, b.shape)
            return self._int(f"({a.text} {pick.choice(['<<', '>>'])} ({b.text} & 7))", dtype, common)
        if what == "minmax":
            # A number beside the tile is a tensor of its natural type here.
            dtype = model.promote_types(a.dtype, b.dtype)
            return self._int(f"tl.{pick.choice(['maximum', 'minimum'])}({a.text}, {b.text})", dtype, common)
        operator = pick.choice(["+", "-", "*"] if what == "arith" else ["&", "|", "^"])
        return self._int(f"({a.text} {operator} {b.text})", dtype, common)

    @staticmethod
    def _int(text: str, dtype: str, shape: tuple[int, ...]) -> Value:
        return Value(text, dtype, shape)

    def _where(self, condition: Value, a: Value, b: Value) -> Value | None:
        shape = broadcast(condition.shape, a.shape, b.shape)
        if shape is None:
            return None
        if a.literal and b.literal:
            b = self.as_type(b, b.dtype)
        dtype = promote(a, b)
        a_error = a.error + (2 * model.EPSILON[dtype] * a.size if is_float(dtype) and a.error else 0)
        return Value(f"tl.where({self.plain(condition)}, {self.plain(a)}, {self.plain(b)})", dtype, shape,
                     max(a.size, b.size), max(a_error, b.error), a.product or b.product)

    def float_operation(self, depth: int, shape: tuple[int, ...], exact: bool) -> Value | None:
        pick = self.random
        what = pick.choices(
            ["add", "sub", "mul", "div", "unary", "math", "minmax", "where", "cast", "fma", "int_div", "mod", "clamp",
             "round"],
            [5, 4, 5, 2, 2, 0 if exact else 4, 3, 2, 3, 0 if exact else 1, 1, 1, 1, 1])[0]
        if what == "unary":
            a = self.expression(depth - 1, True, shape, exact)
            return replace(a, text=pick.choice(["(-{})", "tl.abs({})"]).format(a.text), literal=False)
        if what == "cast":
            return self.as_type(self.expression(depth - 1, pick.random() < 0.6, shape, exact), pick.choice(self.float_types()))
        if what == "math":
            return self._math(depth, shape)
        if what == "int_div":
            a, b = self.leaf(False, shape), self.leaf(False, shape)
            return Value(f"(({a.text} & 63) / (({self.as_type(b, a.dtype).text} & 7) + 1))", "float32",
                         broadcast(a.shape, b.shape), 63.0)
        if what == "round":
            a = self.as_type(self.expression(depth - 1, True, shape, exact=True), pick.choice(["float32", "float64"]))
            return replace(a, text=f"tl.{pick.choice(['floor', 'ceil'])}({a.text})", size=a.size + 1, product=False)
        if what == "mod":
            a = self.as_type(self.expression(depth - 1, True, shape, exact=True), "float32")
            b = self.as_type(self.leaf(True, shape, exact=True), "float32")
            if not a.exact or not b.exact:
                return None
            return Value(f"({a.text} % (tl.abs({b.text}) + 1.0))", "float32", broadcast(a.shape, b.shape), a.size,
                         a.error + (0.0 if not b.product else math.inf))
        if what == "clamp":
            a = self.as_type(self.expression(depth - 1, True, shape, exact), "float32")
            return replace(a, text=f"tl.clamp({a.text}, -2.0, 3.5)", size=3.5)
        if what == "fma":
            a, b, c = (self.as_type(self.expression(depth - 1, True, shape), "float32") for _ in range(3))
            error = self._product_error(a, b, "float32") + c.error + 2 * model.EPSILON["float32"] * (a.size * b.size + c.size)
            common = broadcast(a.shape, b.shape, c.shape)
            a, b, c = (self.as_shape(v, common) for v in (a, b, c))
            return Value(f"tl.fma({a.text}, {b.text}, {c.text})", "float32", common, a.size * b.size + c.size, error)
        a, b = self.pair(depth, True, shape, exact)
        dtype = promote(a, b, division=what == "div")
        if not is_float(dtype):
            return None
        if dtype == "bfloat16" and "interpreter" in self.ways:
            return None
        common = broadcast(a.shape, b.shape)
        # Operands of another type are converted first.
        a, b = (replace(v, error=v.error + (v.size * 2 * model.EPSILON[dtype] if v.error else 0)) for v in (a, b))
        epsilon, tiny = model.EPSILON[dtype], model.TINY[dtype]
        if what == "minmax":
            function = pick.choice(["tl.maximum", "tl.minimum", "tl.maximum"])
            dtype = model.promote_types(a.dtype, b.dtype)
            if "bfloat16" in (a.dtype, b.dtype):
                dtype = "float32"
            # Which zero wins is open.
            return Value(f"({function}({a.text}, {b.text}) + 0.0)", dtype, common, max(a.size, b.size),
                         max(a.error, b.error), a.product or b.product)
        if what == "where":
            return self._where(self.condition(shape, depth - 1), a, b)
        inexact = not (a.exact and b.exact)
        if what == "mul":
            size = a.size * b.size
            error = self._product_error(a, b, dtype) + ((2 * epsilon * size + tiny) if inexact else 0.0)
            return self._bounded(Value(f"({a.text} * {b.text})", dtype, common, size, error, True))
        if what == "div":
            if b.literal:
                return Value(f"({a.text} / {pick.choice(['2.0', '3.0', '0.5', '7.0'])})", _divided_type(a), a.shape, 2 * a.size,
                             2 * a.error + ((4 * model.EPSILON[_divided_type(a)] * a.size + tiny) if not a.exact else 0.0))
            size = a.size
            error = a.error + a.size * b.error + ((4 * epsilon * size + tiny) if inexact else 0.0)
            if b.product:
                error += a.size * epsilon * 4 * (b.size + 1)
            return Value(f"({a.text} / (tl.abs({b.text}) + 1.0))", dtype, common, size, error)
        size = a.size + b.size
        error = a.error + b.error
        if inexact or a.product or b.product:
            # A product that is added may be rounded once instead of twice.
            error += 4 * epsilon * (size + a.size + b.size) + tiny
        sign = "+" if what == "add" else "-"
        return self._bounded(Value(f"({a.text} {sign} {b.text})", dtype, common, size, error, a.product or b.product))

    def _bounded(self, value: Value) -> Value | None:
        """Nothing that overflows its type."""
        return None if value.dtype == "float16" and value.size > 30000 else value

    @staticmethod
    def _product_error(a: Value, b: Value, dtype: str) -> float:
        return a.error * b.size + b.error * a.size + a.error * b.error

    def _math(self, depth: int, shape: tuple[int, ...]) -> Value | None:
        pick = self.random
        dtype = pick.choice(["float32", "float32", "float64"])
        a = self.as_type(self.expression(depth - 1, True, shape), dtype)
        # Different libraries: a few units of the last place, also of the argument.
        unit = 16 * model.EPSILON["float32"]  # some of ours and of numpy's are single
        argument = a.error + 4 * model.EPSILON[dtype] * a.size
        name, make, size, slope = pick.choice([
            ("exp", "tl.exp(tl.clamp({}, -4.0, 4.0))", 55.0, 55.0), ("exp2", "tl.exp2(tl.clamp({}, -4.0, 4.0))", 16.0, 12.0),
            ("sin", "tl.sin({})", 1.0, 1.0), ("cos", "tl.cos({})", 1.0, 1.0),
            ("sqrt", "tl.sqrt(tl.abs({}) + 0.25)", a.size + 1, 1.0), ("rsqrt", "tl.rsqrt(tl.abs({}) + 1.0)", 1.0, 1.0),
            ("log", "tl.log(tl.abs({}) + 0.5)", 12.0, 2.0), ("log2", "tl.log2(tl.abs({}) + 0.5)", 16.0, 4.0),
            ("erf", "tl.erf({})", 1.0, 1.2), ("sigmoid", "tl.sigmoid({})", 1.0, 0.5),
            ("sqrt_rn", "tl.sqrt_rn(tl.abs({}) + 0.25)", a.size + 1, 1.0),
        ])
        if name == "sqrt_rn":
            a = self.as_type(a, "float32")
        return Value(make.format(a.text), a.dtype, a.shape, size, argument * slope + unit * size)

    # ---- conditions

    def condition(self, shape: tuple[int, ...], depth: int = 1) -> Value:
        """An int1, exact."""
        pick = self.random
        what = pick.choices(["int", "float", "logic", "variable", "not"], [6, 3, 2, 2, 1])[0]
        if what == "variable":
            found = [value for value in self.visible() if value.dtype == "int1" and broadcast(value.shape, shape) == shape]
            if found:
                return pick.choice(found)
        if what == "logic" and depth > 0:
            a, b = self.condition(shape, depth - 1), self.condition(shape, depth - 1)
            operator = pick.choice(["&", "|", "^", "and", "or"])
            return Value(f"({a.text} {operator} {b.text})", "int1", broadcast(a.shape, b.shape))
        if what == "not" and depth > 0:
            a = self.condition(shape, depth - 1)
            return Value(pick.choice(["(not {})", "(~{})"]).format(a.text), "int1", a.shape)
        floating = what == "float"
        a = self.expression(depth, floating, shape, exact=True)
        if a.literal:
            a = self.leaf(False, shape)
        floating = is_float(a.dtype)
        if floating and not a.exact or a.literal:
            a, floating = self.leaf(False, shape), False
        if pick.random() < 0.5:
            b = self.float_literal() if floating else self.int_literal(a.dtype)
        else:
            b = self.leaf(floating, shape, exact=True)
            if not b.exact:
                b = self.float_literal()
        if is_float(promote(a, b)) and promote(a, b) == "bfloat16" and "interpreter" in self.ways:
            b = self.float_literal()
        operator = pick.choice(["<", "<=", ">", ">=", "==", "!="])
        return Value(f"({a.text} {operator} {b.text})", "int1", broadcast(a.shape, b.shape))


def _divided_type(a: Value) -> str:
    return "float32" if a.dtype in ("float16", "bfloat16") else a.dtype
