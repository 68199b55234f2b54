# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random valid kernels.

A kernel is made statement by statement; of each value the type, the shape, a bound
of its size and a bound of its error are known, so that no operation is undefined
(divisors are not zero, shifts are in range, addresses exist, what becomes an integer
fits) and the results of two correct compilers differ by at most a known amount.
What decides a branch, an address or an integer is always exact.
"""

from __future__ import annotations

import random

import numpy as np

from . import model
from .expressions import Expressions
from .model import Value, bits, is_float, is_int, kind
from .program import WAYS, Argument, Program

#: Elements of each input array.
INPUT = 256
#: Programs of a launch write their results this many elements apart.
REGION = 4096


class Generator(Expressions):
    def __init__(self, seed: int, odd: bool = False):
        self.seed = seed
        self.odd = odd
        self.random = random.Random(f"{seed}:{odd}")
        self.arrays = np.random.default_rng([seed, int(odd)])
        self.lines: list[str] = []
        self.indent = 1
        self.values: list[Value] = []
        self.frozen: set[str] = set()
        self.hidden: set[str] = set()
        self.helpers: list[str] = []
        self.arguments: list[Argument] = []
        self.constants: dict[str, object] = {}
        self.count = 0
        self.loops = 0
        self.outputs = 0

    # ---- text

    def emit(self, line: str) -> None:
        self.lines.append("    " * self.indent + line)

    def fresh(self, prefix: str = "v") -> str:
        self.count += 1
        return f"{prefix}{self.count}"

    def define(self, value: Value, prefix: str = "v") -> Value:
        """A new variable."""
        name = self.fresh(prefix)
        self.emit(f"{name} = {self.plain(value)}")
        result = value.named(name)
        self.values.append(result)
        return result

    def plain(self, value: Value) -> str:
        text = value.text
        # No parentheses around a whole right-hand side.
        return text[1:-1] if text.startswith("(") and text.endswith(")") and self._encloses(text) else text

    @staticmethod
    def _encloses(text: str) -> bool:
        depth = 0
        for i, letter in enumerate(text):
            depth += (letter in "([{") - (letter in ")]}")
            if depth == 0:
                return i == len(text) - 1
        return False

    # ---- arguments

    def input_array(self, dtype: str) -> Argument:
        for argument in self.arguments:
            if argument.is_pointer and argument.dtype == dtype and not argument.output and self.random.random() < 0.8:
                return argument
        argument = Argument(self.fresh("in_"), dtype, self._random_array(dtype))
        self.arguments.append(argument)
        return argument

    def _random_array(self, dtype: str) -> np.ndarray:
        if is_int(dtype):
            info = np.iinfo(dtype)
            if self.random.random() < 0.4:
                return self.arrays.integers(max(info.min, -9), 9, INPUT, endpoint=True).astype(dtype)
            values = self.arrays.integers(info.min, info.max, INPUT, dtype=dtype, endpoint=True)
            values[self.arrays.integers(0, INPUT, 16)] = self.arrays.choice(
                np.array([info.min, info.max, 0, 1, info.max - 1, info.min + 1], dtype=dtype), 16)
            return values
        numpy_dtype = _numpy_dtype(dtype)
        values = self.arrays.uniform(-4, 4, INPUT)
        if self.random.random() < 0.5:
            values = np.round(values * 4) / 4  # equal ones too
        values[self.arrays.integers(0, INPUT, 8)] = 0.0
        values[self.arrays.integers(0, INPUT, 2)] = -0.0
        return values.astype(numpy_dtype)

    def scalar(self, dtype: str, low: int, high: int) -> Value:
        """A scalar argument of the kernel; never 1, which would become a constant."""
        number: int | float = self.random.choice([n for n in range(low, high + 1) if n != 1])
        if is_float(dtype):
            number = number / 4 + 0.125
        argument = Argument(self.fresh("s"), dtype, number)
        self.arguments.append(argument)
        return Value(argument.name, dtype, size=abs(float(number)))

    def output(self, dtype: str, tolerance: float) -> Argument:
        numpy_dtype = _numpy_dtype(dtype)
        programs = int(np.prod(self.grid))
        argument = Argument(self.fresh("out_"), dtype, np.full(REGION * programs, 7, numpy_dtype), tolerance, True)
        self.arguments.append(argument)
        return argument

    # ---- the kernel

    def generate(self) -> Program:
        pick = self.random
        self.grid = pick.choice([(1,), (2,), (3,), (2, 2)])
        self.choose_shapes()
        two = not self.odd and pick.random() < 0.15  # without the interpreter: types that it cannot compute with
        self.types = (["bfloat16"] if two else []) + self._types()
        if self.odd:
            ways = ("nereid", "interpreter")
        elif two:
            ways = ("nereid", "ttir")
        else:
            ways = tuple(WAYS)
        self.ways = ways
        self.emit("pid = tl.program_id(0)")
        self.pid = Value("pid", "int32")
        if len(self.grid) > 1:
            self.emit("pid = tl.program_id(1) * tl.num_programs(0) + pid")
        self.values.append(self.pid)
        for i, size in enumerate(sorted({size for shape in self.shapes for size in shape})):
            self.emit(f"o{size} = tl.arange(0, {size})")
            self.values.append(Value(f"o{size}", "int32", (size,)))
        for _ in range(pick.randint(2, 4)):
            self.statement_load(0)
        self.statements(pick.randint(4, 10) if pick.random() < 0.75 else pick.randint(12, 25), depth=0)
        self.store_results()
        names = ", ".join(argument.name + ("" if argument.is_pointer else f": tl.{argument.dtype}")
                          for argument in self.arguments)
        parameters = names + "".join(f", {name}: tl.constexpr" for name in self.constants)
        source = "".join(helper + "\n\n" for helper in self.helpers)
        source += f"@triton.jit\ndef kernel({parameters}):\n" + "\n".join(self.lines) + "\n"
        return Program(self.seed, source, "kernel", self.arguments, self.constants, self.grid, ways)

    def _types(self) -> list[str]:
        pick = self.random
        return pick.sample(model.INTS, pick.randint(1, 4)) + pick.sample(model.FLOATS, pick.randint(1, 2)) + ["int32"]

    def choose_shapes(self) -> None:
        pick = self.random
        if self.odd:
            sizes = [pick.choice([1, 2, 3, 5, 7, 12, 20, 33, 100]) for _ in range(3)]
        else:
            sizes = [2 ** pick.randint(0, 6) for _ in range(3)]
        one, rows, columns = sizes
        rows = min(rows, 33 if self.odd else 32)
        columns = min(columns, 33 if self.odd else 32)
        self.shapes = [(one,)]
        if pick.random() < 0.6:
            self.shapes.append((rows, columns))
        if pick.random() < 0.12:
            self.shapes.append((2, rows, min(columns, 8)))

    # ---- statements

    def statements(self, number: int, depth: int) -> None:
        choices = [
            (self.statement_assign, 8), (self.statement_load, 3), (self.statement_update, 3), (self.statement_if, 2),
            (self.statement_for, 2), (self.statement_while, 1), (self.statement_reduce, 2), (self.statement_scan, 1),
            (self.statement_shape, 2), (self.statement_helper, 1), (self.statement_constexpr_if, 1),
            (self.statement_static_range, 1), (self.statement_memory, 1), (self.statement_atomic, 1),
            (self.statement_tuple, 1), (self.statement_dot, 1), (self.statement_block, 1), (self.statement_sort, 1),
            (self.statement_ternary, 1), (self.statement_random, 1), (self.statement_hint, 1), (self.statement_narrow, 1),
        ]
        if depth == 0:
            choices.append((self.statement_return, 1))
        start = len(self.lines)
        for _ in range(number):
            functions, weights = zip(*choices)
            self.random.choices(functions, weights)[0](depth)
        if len(self.lines) == start:
            self.statement_assign(depth)

    def block(self, number: int, depth: int) -> list[Value]:
        """Statements one level deeper; their variables end with them. The values
        of outer variables as they are at the end."""
        before = list(self.values)
        self.indent += 1
        self.statements(number, depth + 1)
        self.indent -= 1
        names = {value.text for value in before}
        after = [value for value in self.values if value.text in names]
        self.values = before
        return after

    def statement_assign(self, depth: int) -> None:
        self.define(self.any_expression(self.random.randint(1, 3)))

    def statement_update(self, depth: int) -> None:
        """An existing variable gets a new value of its type and shape."""
        candidates = [value for value in self.values if value.text not in self.frozen and value.text.startswith("v")
                      and value.text not in self.hidden and value.dtype != "int1"]
        if not candidates:
            return self.statement_assign(depth)
        old = self.random.choice(candidates)
        new = self.as_type(self.expression(self.random.randint(1, 2), is_float(old.dtype), old.shape), old.dtype)
        new = self.as_shape(new, old.shape)
        if new is None:
            return self.statement_assign(depth)
        self.emit(f"{old.text} = {self.plain(new)}")
        self.rebind(old, new)

    def rebind(self, old: Value, new: Value) -> None:
        index = next(i for i, value in enumerate(self.values) if value.text == old.text)
        self.values[index] = new.named(old.text)

    def merge(self, *ends: list[Value]) -> None:
        """After a branch: each variable is what any of the ways made it."""
        for i, value in enumerate(self.values):
            if value.literal:
                continue
            versions = [next((other for other in end if other.text == value.text), value) for end in ends]
            self.values[i] = Value(value.text, value.dtype, value.shape, max(v.size for v in versions),
                                   max(v.error for v in versions), any(v.product for v in versions))

    def statement_if(self, depth: int) -> None:
        if depth > 2:
            return self.statement_assign(depth)
        self.emit(f"if {self.plain(self.condition(()))}:")
        first = self.block(self.random.randint(1, 3), depth)
        second = list(self.values)
        if self.random.random() < 0.5:
            self.emit("else:")
            second = self.block(self.random.randint(1, 2), depth)
        self.merge(first, second)

    def statement_constexpr_if(self, depth: int) -> None:
        name = self.fresh("C")
        self.constants[name] = self.random.choice([True, False, 0, 3, None])
        test = name if self.constants[name] is not None else f"{name} is not None"
        taken = bool(self.constants[name])
        self.emit(f"if {test}:")
        first = self.block(self.random.randint(1, 2), depth) if taken else None
        if not taken:
            self.emit("    tl.static_assert(False, \"not taken\")")
            self.emit("else:")
            first = self.block(self.random.randint(1, 2), depth)
        self.merge(first)

    def carried(self, trips: int) -> tuple[list, list[str]]:
        """Variables that a loop updates, with the way it does; new ones."""
        updates = []
        names = []
        for _ in range(self.random.randint(1, 3)):
            dtype = self.random.choice(self.types)
            shape = self.random.choice(self.shapes + [()])
            start = self.as_type(self.expression(1, is_float(dtype), shape, exact=is_float(dtype)), dtype)
            start = self.as_shape(start, shape)
            if start is None:
                continue
            start = self.define(start)
            how = "any"
            if is_float(dtype):
                how = self.random.choice(["add", "select"] + ["max"] * (dtype != "bfloat16"))  # bf16 becomes fp32
                epsilon, tiny = model.EPSILON[dtype], model.TINY[dtype]
                size = start.size + trips * 8 if how == "add" else max(start.size, 8)
                error = 0.0 if how != "add" else trips * (16 * epsilon + 2 * epsilon * size + tiny)
                self.rebind(start, Value(start.text, dtype, shape, size, start.error + error, start.product))
            self.frozen.add(start.text)
            updates.append((start, how))
            names.append(start.text)
        return updates, names

    def update_carried(self, updates: list) -> None:
        for start, how in updates:
            if how == "any":
                new = self.as_type(self.expression(2, False, start.shape), start.dtype)
                new = self.as_shape(new, start.shape)
                if new is not None:
                    self.emit(f"{start.text} = {self.plain(new)}")
                continue
            # Floats: no error may grow from one trip to the next.
            new = self.as_type(self.small_exact_float(start.shape), start.dtype)
            if how == "add":
                self.emit(f"{start.text} += {self.plain(new)}")
                continue
            new = self.as_shape(new, start.shape)
            if how == "max":
                self.emit(f"{start.text} = tl.maximum({start.text}, {self.plain(new)})")
            else:
                condition = self.as_shape(self.condition(start.shape), start.shape)
                self.emit(f"{start.text} = tl.where({self.plain(condition)}, {self.plain(new)}, {start.text})")

    def loop_body(self, depth: int, updates: list, extra: list[Value]) -> None:
        before = list(self.values)
        # What the body assigns may be anything from the second trip on: integers of
        # any value, and no float but those that keep their bounds.
        frozen = set(self.frozen)
        self.frozen |= {value.text for value in before if is_float(value.dtype)}
        self.indent += 1
        self.loops += 1
        self.values += extra
        self.statements(self.random.randint(1, 3), depth + 1)
        self.update_carried(updates)
        self.loops -= 1
        self.indent -= 1
        self.values = before
        self.frozen = frozen

    def statement_for(self, depth: int) -> None:
        if depth > 1 or self.loops > 1:
            return self.statement_assign(depth)
        pick = self.random
        trips = pick.randint(0, 5)
        start, step = pick.choice([0, 0, 2, -3]), pick.choice([1, 1, 2, 3])
        stop = str(start + trips * step - pick.randint(0, step - 1))
        updates, names = self.carried(trips)
        if pick.random() < 0.4:  # a bound that is known at run time only
            stop_value = self.scalar("int32", 2, 5)
            start, step, trips = 0, 1, 5
            stop = stop_value.text
            for update, how in updates:
                if how == "add":
                    self.rebind(update, Value(update.text, update.dtype, update.shape, update.size + 40,
                                              update.error + 5 * (16 + 2 * update.size + 80)
                                              * model.EPSILON[update.dtype], update.product))
        arguments = stop if (start, step) == (0, 1) else f"{start}, {stop}, {step}" if step != 1 else f"{start}, {stop}"
        function = pick.choice(["range", "tl.range"])
        variable = self.fresh("i")
        self.emit(f"for {variable} in {function}({arguments}):")
        self.emit(f"    {variable}_ = tl.cast({variable}, tl.int32)")
        self.loop_body(depth, updates, [Value(f"{variable}_", "int32")])

    def statement_while(self, depth: int) -> None:
        if depth > 1 or self.loops > 1:
            return self.statement_assign(depth)
        bound = self.as_type(self.expression(1, False, ()), "int32")
        counter = self.fresh("k")
        limit = self.fresh("k")
        self.emit(f"{limit} = {bound.text} & {self.random.choice([3, 7])}")
        updates, names = self.carried(7)
        self.emit(f"{counter} = {limit} * 0")
        self.emit(f"while {counter} < {limit}:")
        self.loop_body(depth, updates, [Value(counter, "int32")])
        self.emit(f"    {counter} += 1")
        self.values.append(Value(counter, "int32"))

    def statement_static_range(self, depth: int) -> None:
        if depth > 1 or self.loops > 1:
            return self.statement_assign(depth)
        trips = self.random.randint(1, 3)
        updates, names = self.carried(trips)
        variable = self.fresh("i")
        self.emit(f"for {variable} in tl.static_range({trips}):")
        self.loop_body(depth, updates, [Value(variable, "int32", literal=True)])

    def statement_return(self, depth: int) -> None:
        if self.random.random() < 0.6 or not self.values:
            return self.statement_assign(depth)
        condition = self.condition(())
        self.emit(f"if {self.plain(condition)}:")
        self.indent += 1
        self.store(self.random.choice([value for value in self.values if not value.literal]))
        self.emit("return")
        self.indent -= 1

    def statement_tuple(self, depth: int) -> None:
        a, b = (self.as_shape(v, ()) if v.literal else v for v in (self.any_expression(1), self.any_expression(1)))
        names = self.fresh(), self.fresh()
        if self.random.random() < 0.3:
            pair = self.fresh("t")
            self.emit(f"{pair} = ({self.plain(a)}, {self.plain(b)})")
            self.emit(f"{names[0]} = {pair}[0]")
            self.emit(f"{names[1]} = {pair}[{self.random.choice(['1', '-1'])}]")
            self.values += [a.named(names[0]), b.named(names[1])]
            return
        self.emit(f"{names[0]}, {names[1]} = {self.plain(a)}, {self.plain(b)}")
        self.values += [a.named(names[0]), b.named(names[1])]

    def statement_ternary(self, depth: int) -> None:
        """x if c else y: both arms of one type and shape."""
        floating = self.random.random() < 0.4
        shape = self.random.choice(self.shapes + [()])
        first = self.leaf(floating, shape)
        second = self.as_type(self.expression(2, floating, first.shape), first.dtype)
        second = self.as_shape(second, first.shape)
        condition = self.condition(())
        self.define(Value(f"{self.plain(first)} if {self.plain(condition)} else {self.plain(second)}", first.dtype,
                          first.shape, max(first.size, second.size), max(first.error, second.error),
                          first.product or second.product))

    def statement_random(self, depth: int) -> None:
        shape = self.random.choice([shape for shape in self.shapes if len(shape) == 1] + [()])
        offsets = self.as_type(self.leaf(False, shape), "int32")
        seed = self.random.randint(0, 1000)
        if self.random.random() < 0.6:
            self.define(Value(f"tl.randint({seed}, {offsets.text})", "uint32", offsets.shape))
        else:
            self.define(Value(f"tl.rand({seed}, {offsets.text})", "float32", offsets.shape, 1.0))

    def statement_hint(self, depth: int) -> None:
        """What must not change anything."""
        tiles = [value for value in self.visible() if len(value.shape) == 1 and is_int(value.dtype)]
        if tiles and self.random.random() < 0.7:
            tile = self.random.choice(tiles)
            function = self.random.choice(["tl.multiple_of", "tl.max_contiguous", "tl.max_constancy"])
            self.define(Value(f"{function}({tile.text}, 1)", tile.dtype, tile.shape))
            return
        self.emit(f"tl.assume({self.pid.text} >= 0)")

    def statement_narrow(self, depth: int) -> None:
        """To an 8-bit float and back."""
        found = [value for value in self.visible() if value.dtype in ("float32", "float16") and value.exact
                 and value.size < 400]
        if not found or "interpreter" in self.ways:
            return self.statement_ternary(depth)
        value = self.random.choice(found)
        narrow = self.random.choice(["float8e5", "float8e4nv"])
        self.define(Value(f"{value.text}.to(tl.{narrow}).to(tl.{value.dtype})", value.dtype, value.shape, 2 * value.size))

    def statement_helper(self, depth: int) -> None:
        """A call of another jit function."""
        values = [value for value in self.visible() if value.dtype != "int1"]
        if len(values) < 2:
            return self.statement_assign(depth)
        name = self.fresh("helper_")
        given = [self.random.choice(values) for _ in range(2)]
        inner = Generator.__new__(Generator)
        inner.__dict__.update(self.__dict__)
        inner.values = [value.named(parameter) for value, parameter in zip(given, "pq")]
        inner.lines, inner.indent, inner.hidden = [], 1, set()
        inner.in_helper = True
        inner.statement_assign(9)
        if self.random.random() < 0.4:
            inner.statement_assign(9)
        results = [inner.expression(2, self.random.random() < 0.5, self.random.choice(self.shapes))
                   for _ in range(self.random.randint(1, 2))]
        self.count = inner.count
        scalars = all(not value.shape for value in given + results)
        decorator = "@triton.jit(noinline=True)" if scalars and self.random.random() < 0.5 else "@triton.jit"
        default = self.random.random() < 0.3
        body = "\n".join(inner.lines + [f"    return {', '.join(inner.plain(result) for result in results)}"])
        parameters = "p, q" + (", scale=3" if default else "")
        self.helpers.append(f"{decorator}\ndef {name}({parameters}):\n{body}\n")
        names = [self.fresh() for _ in results]
        keyword = self.random.random() < 0.3
        arguments = f"{given[0].text}, {'q=' if keyword else ''}{given[1].text}"
        self.emit(f"{', '.join(names)} = {name}({arguments})")
        self.values += [result.named(target) for result, target in zip(results, names)]

    # ---- results

    def store(self, value: Value) -> None:
        """Writes a value to an output of its own."""
        if value.dtype == "int1":
            value = Value(f"{value.text}.to(tl.int32)", "int32", value.shape)
        size = int(np.prod(value.shape)) if value.shape else 1
        if size > REGION:
            return
        dtype = value.dtype
        if dtype == "bfloat16" and "interpreter" in self.ways:
            value, dtype = self.as_type(value, "float32"), "float32"
        if not np.isfinite(value.error) or value.size > 1e30:
            return
        argument = self.output(dtype, 2 * value.error)
        self.emit(f"tl.store({argument.name} + {REGION} * pid{self.offsets(value.shape)}, {self.plain(value)})")

    def offsets(self, shape: tuple[int, ...]) -> str:
        """' + ...': places of a tile's elements in row-major order."""
        text = ""
        stride = int(np.prod(shape)) if shape else 1
        for d, size in enumerate(shape):
            stride //= max(size, 1)
            index = f"tl.arange(0, {size})"
            if len(shape) > 1:
                index += "[" + ", ".join(":" if e == d else "None" for e in range(len(shape))) + "]"
            text += f" + {index}" + (f" * {stride}" if stride != 1 else "")
        return text

    def store_results(self) -> None:
        pick = self.random
        values = [value for value in self.values if value.text.startswith("v")] or [self.pid]
        for value in pick.sample(values, min(len(values), pick.randint(2, 5))):
            self.store(value)


def _numpy_dtype(dtype: str) -> np.dtype:
    if dtype == "bfloat16":
        import ml_dtypes

        return np.dtype(ml_dtypes.bfloat16)
    return np.dtype(dtype)


def generate(seed: int, odd: bool = False) -> Program:
    """The kernel of a seed; `odd`: with tiles of sizes that are no powers of two."""
    return Generator(seed, odd).generate()
