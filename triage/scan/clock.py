"""Time stamps as logs print them, and what may be concluded from two of them.

Four clocks are told apart (:class:`~triage.model.Moment`): a date with a year, a date without one
(glog, syslog, vLLM), a time of day, and seconds since boot. Nothing is guessed: a stamp without a
year keeps none, and a time without a zone is kept as printed.
"""

from __future__ import annotations

import datetime
from functools import lru_cache

from triage.model import Moment
from triage.scan.lazy import compiled

DAY = 86400
_UNIX_DAY = datetime.date(1970, 1, 1).toordinal()
_LEAP_YEAR = 2000
"""Year-less dates are laid out on a leap year, so that 29 February has a place."""
_LEAP_START = datetime.date(_LEAP_YEAR, 1, 1).toordinal() - _UNIX_DAY
_MONTHS = {
    name: number
    for number, name in enumerate(
        ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"), 1
    )
}
# abbreviations with one meaning only: CST, IST and BST each name several zones
_ZONES = {
    "Z": 0, "UTC": 0, "GMT": 0, "EST": -5, "EDT": -4, "MST": -7, "MDT": -6, "PST": -8, "PDT": -7,
    "CET": 1, "CEST": 2, "EET": 2, "EEST": 3, "MSK": 3, "JST": 9, "KST": 9,
}  # fmt: skip
_SAME_ZONE = 900.0
"""Two readings of one line this close, in seconds, are taken to be in the same time zone."""
_EPOCH_RANGE = (946_684_800, 4_102_444_800)
"""Unix seconds that are taken for a time: the years 2000 to 2099."""

_STAMP = r"""(?x)
    \s*\[?(?:
      (?P<date>\d{4}[-/]\d\d[-/]\d\d)(?:T|[ _]\s*)(?P<t1>\d\d:\d\d:\d\d)(?:[.,](?P<f1>\d{1,9}))?
        (?:\s?(?P<zone>Z|UTC|GMT|[+-]\d\d(?::?\d\d)?|[A-Z]{3,4})(?![A-Za-z0-9]))?
    | (?P<us>\d\d/\d\d/\d{4})[ -](?P<t2>\d\d:\d\d:\d\d)(?:[.,](?P<f2>\d{1,9}))?
    | (?:[A-Z][a-z]{2}\ +)?(?P<mon>[A-Z][a-z]{2})\ +(?P<mday>\d{1,2})\ +(?:(?P<y1>\d{4})\ +)?
        (?P<t3>\d\d:\d\d:\d\d)(?:[.,](?P<f3>\d{1,9}))?(?:\ (?P<z3>[A-Z]{3,4}))?(?:\ (?P<y2>\d{4}))?
    | (?P<md>\d\d-\d\d)\ (?P<t4>\d\d:\d\d:\d\d)(?:[.,](?P<f4>\d{1,9}))?
    | [IWEFDV]?(?P<glog>\d{3,4}|\d{8})\ (?P<t5>\d\d:\d\d:\d\d)(?:\.(?P<f5>\d{1,9}))?
    | (?P<t6>\d\d:\d\d:\d\d)(?:[.,](?P<f6>\d{1,9}))?
    | (?P<seconds>\d{1,10}\.\d{1,9}|\d{10})
    )\]?\s*
    """


def parse_time(text: str) -> Moment | None:
    """The moment that ``text``, a time stamp and nothing else, states; None when it states none.

    A plain number is a Unix time when it lies between 2000 and 2099, else seconds since boot.
    """
    found = compiled(_STAMP).fullmatch(text)
    if found is None:
        return None
    part = found.groupdict()
    if part["date"]:
        return wall(part["date"], part["t1"], part["f1"], part["zone"])
    if part["us"]:
        return wall_us(part["us"], part["t2"], part["f2"])
    if part["mon"]:
        year = part["y1"] or part["y2"]
        return named(part["mon"], part["mday"], year, part["t3"], part["f3"], part["z3"])
    if part["md"]:
        return yearless(part["md"][:2], part["md"][3:], part["t4"], part["f4"])
    if part["glog"]:
        return glog(part["glog"], part["t5"], part["f5"])
    if part["t6"]:
        return daytime(part["t6"], part["f6"])
    return number(part["seconds"])


def wall(date: str, time: str, fraction: str | None = None, zone: str | None = None) -> Moment | None:
    """``YYYY-MM-DD`` (any separator) and ``HH:MM:SS``, with digits after the point and zone if known."""
    return _wall(int(date[:4]), int(date[5:7]), int(date[8:10]), time, fraction, zone)


def wall_us(date: str, time: str, fraction: str | None = None) -> Moment | None:
    """``MM/DD/YYYY`` or ``MM/DD/YY``, and ``HH:MM:SS``."""
    year = int(date[6:])
    return _wall(year + 2000 if year < 100 else year, int(date[:2]), int(date[3:5]), time, fraction, None)


def named(
    month: str,
    day: str,
    year: str | None,
    time: str,
    fraction: str | None = None,
    zone: str | None = None,
) -> Moment | None:
    """A date whose month is an English abbreviation; without a year it is year-less."""
    number_of_month = _MONTHS.get(month[:3].lower())
    if number_of_month is None:
        return None
    if year is None:
        return yearless(number_of_month, int(day), time, fraction)
    return _wall(int(year), number_of_month, int(day), time, fraction, zone)


def yearless(month: str | int, day: str | int, time: str, fraction: str | None = None) -> Moment | None:
    """A date without a year, and ``HH:MM:SS``."""
    days = _days(_LEAP_YEAR, int(month), int(day))
    seconds = _seconds(time)
    if days is None or seconds is None:
        return None
    return Moment((days - _LEAP_START) * DAY + seconds + _fraction(fraction), "yearless")


def glog(date: str, time: str, fraction: str | None = None) -> Moment | None:
    """A glog date: ``MMDD``, ``MDD`` (c10 does not pad the month) or ``YYYYMMDD``."""
    if len(date) == 8:
        return _wall(int(date[:4]), int(date[4:6]), int(date[6:]), time, fraction, None)
    return yearless(date[:-2], date[-2:], time, fraction)


def daytime(time: str, fraction: str | None = None) -> Moment | None:
    """A time of day: ``HH:MM:SS``."""
    seconds = _seconds(time)
    return None if seconds is None else Moment(seconds + _fraction(fraction), "daytime")


def uptime(seconds: str) -> Moment:
    """Seconds since boot, as the kernel prints them."""
    return Moment(float(seconds), "uptime")


def number(seconds: str) -> Moment:
    """A bare number of seconds: since 1970 when that gives a plausible year, else since boot."""
    value = float(seconds)
    if _EPOCH_RANGE[0] <= value < _EPOCH_RANGE[1]:
        return Moment(value, "wall", True)
    return Moment(value, "uptime")


def comparable(a: Moment, b: Moment) -> bool:
    """Whether the order of ``a`` and ``b`` means anything.

    Clocks must be the same, and both or neither named their zone: a time as printed may be hours
    away from UTC. Seconds since boot count per host, which the caller has to know.
    """
    return a.clock == b.clock and a.zoned == b.zoned


def iso(moment: Moment, year: int | None = None) -> str | None:
    """ISO 8601 as far as the log tells it; ``Z`` is added when the log named a zone.

    A year-less date is None unless ``year`` is given, a time of day comes without a date, and
    seconds since boot are None.
    """
    if moment.clock == "uptime":
        return None
    if moment.clock == "yearless":
        if year is None:
            return None
        moment = with_year(moment, year)
    whole, micros = divmod(round(moment.seconds * 1_000_000), 1_000_000)
    days, rest = divmod(whole, DAY)
    text = f"{rest // 3600:02d}:{rest // 60 % 60:02d}:{rest % 60:02d}"
    if micros:
        text += f".{micros // 1000:03d}" if micros % 1000 == 0 else f".{micros:06d}"
    if moment.clock == "daytime":
        return text
    return f"{_date(days).isoformat()}T{text}{'Z' if moment.zoned else ''}"


def year_of(moment: Moment) -> int | None:
    """The year of a moment that has one."""
    return _date(int(moment.seconds // DAY)).year if moment.clock == "wall" else None


def with_year(moment: Moment, year: int) -> Moment:
    """A year-less moment in ``year``; every other moment as it is.

    29 February of a year that has none becomes 1 March.
    """
    if moment.clock != "yearless":
        return moment
    days, seconds = divmod(moment.seconds, DAY)
    printed = _date(int(days) + _LEAP_START)
    in_year = _days(year, printed.month, printed.day)
    if in_year is None:
        in_year = _days(year, 3, 1) or 0
    return Moment(in_year * DAY + seconds, "wall", moment.zoned)


def refine(outer: Moment | None, inner: Moment) -> Moment:
    """The better of two times of one line: a collector's ``outer`` and the program's ``inner``.

    The program's is nearer to the event, the collector's often says more (year, date, zone). When
    both agree to within a quarter of an hour, the program's reading is completed with what the
    collector's tells; otherwise the one that says more wins.
    """
    if outer is None:
        return inner
    if inner.clock == "uptime" or outer.clock == "uptime":
        return outer if inner.clock == "uptime" else inner
    completed = _completed(outer, inner)
    if completed is not None:
        difference = abs(completed.seconds - outer.seconds)
        if inner.zoned or difference < _SAME_ZONE:
            # whole seconds say less than the collector's fraction when both are the same second
            return outer if difference < 1 and outer.zoned >= inner.zoned else completed
    return inner if _rank(inner) >= _rank(outer) else outer


def _completed(outer: Moment, inner: Moment) -> Moment | None:
    """``inner`` with the year or date of ``outer``, and its zone; None when that gives nothing."""
    if outer.clock != "wall":
        return None
    if inner.clock == "wall":
        return Moment(inner.seconds, "wall", outer.zoned or inner.zoned)
    if inner.clock == "yearless":
        year = year_of(outer) or _LEAP_YEAR
        # around New Year the collector may already be in the next year
        candidates = [with_year(inner, y).seconds for y in (year - 1, year, year + 1)]
    else:
        midnight = outer.seconds // DAY * DAY
        candidates = [midnight + shift + inner.seconds for shift in (-DAY, 0, DAY)]
    return Moment(min(candidates, key=lambda s: abs(s - outer.seconds)), "wall", outer.zoned)


def _rank(moment: Moment) -> int:
    order = ("uptime", "daytime", "yearless", "wall")
    return order.index(moment.clock) * 2 + moment.zoned


def _wall(
    year: int, month: int, day: int, time: str, fraction: str | None, zone: str | None
) -> Moment | None:
    days = _days(year, month, day)
    seconds = _seconds(time)
    if days is None or seconds is None:
        return None
    offset = _offset(zone) if zone else None
    total = days * DAY + seconds + _fraction(fraction) - (offset or 0)
    return Moment(total, "wall", offset is not None)


def _offset(zone: str) -> int | None:
    """Seconds that ``zone`` is ahead of UTC; None for a name that has several meanings or none."""
    if zone[0] in "+-":
        digits = zone[1:].replace(":", "")
        if not digits.isdecimal():
            return None
        seconds = int(digits[:2]) * 3600 + int(digits[2:4] or 0) * 60
        return -seconds if zone[0] == "-" else seconds
    hours = _ZONES.get(zone)
    return None if hours is None else hours * 3600


def _seconds(time: str) -> int | None:
    hours, minutes, seconds = int(time[:2]), int(time[3:5]), int(time[6:8])
    if hours > 23 or minutes > 59 or seconds > 60:
        return None
    return hours * 3600 + minutes * 60 + seconds


def _fraction(digits: str | None) -> float:
    return float(f"0.{digits}") if digits else 0.0


@lru_cache(maxsize=256)
def _days(year: int, month: int, day: int) -> int | None:
    """Days from 1970-01-01, or None for a date that does not exist."""
    try:
        return datetime.date(year, month, day).toordinal() - _UNIX_DAY
    except ValueError:
        return None


def _date(days: int) -> datetime.date:
    """The day that lies ``days`` after 1970-01-01, kept within the years 1 to 9999."""
    return datetime.date.fromordinal(min(max(days + _UNIX_DAY, 1), datetime.date.max.toordinal()))
