# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tables of measurements over a range of sizes: ``nereid.testing.perf_report``."""

from __future__ import annotations

import csv
import os
from typing import Any, Callable, Sequence


class Benchmark:
    """What to vary and how to show it.

    `x_names` are the arguments of the measured function that take the values of
    `x_vals` (each a value for all of them, or one per name); `line_arg` takes the
    values of `line_vals`, one column each, headed by `line_names`. `args` are its
    other arguments. `plot_name` names table and files.
    """

    def __init__(
        self, x_names: Sequence[str], x_vals: Sequence[Any], line_arg: str, line_vals: Sequence[Any],
        line_names: Sequence[str], plot_name: str, args: dict[str, Any], xlabel: str = "", ylabel: str = "",
        x_log: bool = False, y_log: bool = False, styles: Sequence[tuple[str, str]] | None = None,
    ):
        self.x_names = [x_names] if isinstance(x_names, str) else list(x_names)
        self.x_vals = list(x_vals)
        self.line_arg = line_arg
        self.line_vals = list(line_vals)
        self.line_names = list(line_names)
        self.plot_name = plot_name
        self.args = dict(args)
        self.xlabel, self.ylabel = xlabel, ylabel
        self.x_log, self.y_log = x_log, y_log
        self.styles = styles
        if len(self.line_vals) != len(self.line_names):
            raise ValueError(
                f"Benchmark '{plot_name}': line_vals has {len(self.line_vals)} values and line_names "
                f"{len(self.line_names)}"
            )

    def points(self) -> list[list[Any]]:
        """The values of `x_names`, one list per row."""
        rows = []
        for value in self.x_vals:
            row = list(value) if isinstance(value, (list, tuple)) else [value] * len(self.x_names)
            if len(row) != len(self.x_names):
                raise ValueError(
                    f"Benchmark '{self.plot_name}': x_vals has {value!r} for the {len(self.x_names)} names "
                    f"{', '.join(self.x_names)}"
                )
            rows.append(row)
        return rows


class Mark:
    """A function with benchmarks, made by ``perf_report``."""

    def __init__(self, fn: Callable, benchmarks: Benchmark | Sequence[Benchmark]):
        self.fn = fn
        self.benchmarks = benchmarks

    def __call__(self, *args, **kwargs):
        return self.fn(*args, **kwargs)

    def _measure(self, bench: Benchmark, kwargs: dict[str, Any]) -> list[list[Any]]:
        rows = []
        for point in bench.points():
            row = list(point)
            for value in bench.line_vals:
                result = self.fn(**dict(zip(bench.x_names, point)), **{bench.line_arg: value}, **bench.args, **kwargs)
                row.append(result[0] if isinstance(result, (list, tuple)) else result)
            rows.append(row)
        return rows

    def run(
        self, show_plots: bool = False, print_data: bool = False, save_path: str = "", return_df: bool = False, **kwargs
    ) -> Any:
        """Measures every point; returns the table (a pandas DataFrame) or the list of
        tables if `return_df` is set.

        `print_data` prints the tables; `save_path` is a folder that gets each as
        ``NAME.csv`` (and ``NAME.png`` where matplotlib is installed, which
        `show_plots` needs). Further keywords go to the measured function.
        """
        single = isinstance(self.benchmarks, Benchmark)
        frames = []
        for bench in [self.benchmarks] if single else self.benchmarks:
            rows = self._measure(bench, kwargs)
            header = [*bench.x_names, *bench.line_names]
            if save_path:
                os.makedirs(save_path, exist_ok=True)
                with open(os.path.join(save_path, f"{bench.plot_name}.csv"), "w", newline="", encoding="utf-8") as file:
                    csv.writer(file).writerows([header, *rows])
            if print_data:
                print(f"{bench.plot_name}:\n{_table(header, rows)}")
            if show_plots or save_path:
                _plot(bench, rows, show_plots, save_path)
            if return_df:
                frames.append(_frame(header, rows))
        if return_df:
            return frames[0] if single else frames
        return None


def perf_report(benchmarks: Benchmark | Sequence[Benchmark]) -> Callable[[Callable], Mark]:
    """Turns a function that measures one point (and returns a number, or the number
    with its lower and upper bound) into a ``Mark``, whose ``run`` measures all."""
    return lambda fn: Mark(fn, benchmarks)


def _table(header: list[str], rows: list[list[Any]]) -> str:
    cells = [["", *header]]
    for i, row in enumerate(rows):
        cells.append([str(i), *(f"{value:.6g}" if isinstance(value, float) else str(value) for value in row)])
    widths = [max(len(line[column]) for line in cells) for column in range(len(cells[0]))]
    return "\n".join("  ".join(cell.rjust(width) for cell, width in zip(line, widths)) for line in cells)


def _frame(header: list[str], rows: list[list[Any]]):
    try:
        import pandas
    except ImportError as error:
        raise ImportError("return_df=True needs the package pandas; print_data and save_path do without") from error
    return pandas.DataFrame(rows, columns=header)


def _plot(bench: Benchmark, rows: list[list[Any]], show: bool, folder: str) -> None:
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        if show:
            raise ImportError("show_plots=True needs the package matplotlib") from error
        return
    figure, axes = plt.subplots()
    first = len(bench.x_names)
    for i, name in enumerate(bench.line_names):
        color, style = bench.styles[i] if bench.styles else (None, None)
        axes.plot([row[0] for row in rows], [row[first + i] for row in rows], label=name, color=color, linestyle=style)
    axes.legend()
    axes.set_xlabel(bench.xlabel or bench.x_names[0])
    axes.set_ylabel(bench.ylabel)
    axes.set_xscale("log" if bench.x_log else "linear")
    axes.set_yscale("log" if bench.y_log else "linear")
    if folder:
        figure.savefig(os.path.join(folder, f"{bench.plot_name}.png"))
    if show:
        plt.show()
    plt.close(figure)
