"""Time stamps in the forms that logs use, and what may be concluded from two of them."""

from __future__ import annotations

import datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from triage.model import Moment
from triage.scan.clock import comparable, glog, iso, parse_time, refine, with_year, year_of


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2026-11-20 18:10:10", "2026-11-20T18:10:10"),
        ("[2025-11-04 12:34:56,101]", "2025-11-04T12:34:56.101"),
        ("2026-11-20_18:16:07", "2026-11-20T18:16:07"),
        ("2025/11/04 12:34:56", "2025-11-04T12:34:56"),
        ("2024-07-02T09:44:52.685302824Z", "2024-07-02T09:44:52.685303Z"),
        ("2025-11-04T12:34:56,789012+01:00", "2025-11-04T11:34:56.789012Z"),
        ("2025-11-04T12:34:56-0730", "2025-11-04T20:04:56Z"),
        ("2025-11-04 12:34:56 UTC", "2025-11-04T12:34:56Z"),
        ("2025-11-04 12:34:56 EST", "2025-11-04T17:34:56Z"),
        ("2025-11-04 12:34:56 CST", "2025-11-04T12:34:56"),  # a zone in three continents
        ("11/18/2025-09:33:30", "2025-11-18T09:33:30"),
        ("Sun Jan  5 18:28:55 2025", "2025-01-05T18:28:55"),
        ("Mon Jun  5 10:21:02 EDT 2023", "2023-06-05T14:21:02Z"),
        ("Jul 23 2024 07:53:55", "2024-07-23T07:53:55"),
        ("20260704 11:20:04.118", "2026-07-04T11:20:04.118"),
        ("1762259696.5", "2025-11-04T12:34:56.500Z"),
        ("18:38:34", "18:38:34"),
    ],
)
def test_stamps_that_can_be_written_as_iso(text: str, expected: str) -> None:
    moment = parse_time(text)
    assert moment is not None
    assert iso(moment) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1104 18:38:34.697891", "2025-11-04T18:38:34.697891"),
        ("E413 17:22:34", "2025-04-13T17:22:34"),
        ("11-04 12:34:56", "2025-11-04T12:34:56"),
        ("Nov  4 12:34:56", "2025-11-04T12:34:56"),
        ("Feb 29 00:00:01", "2025-03-01T00:00:01"),
    ],
)
def test_stamps_without_a_year_get_one_only_on_request(text: str, expected: str) -> None:
    moment = parse_time(text)
    assert moment is not None
    assert moment.clock == "yearless"
    assert iso(moment) is None
    assert iso(moment, 2025) == expected
    assert year_of(moment) is None
    assert year_of(with_year(moment, 2025)) == 2025


@pytest.mark.parametrize(
    "text",
    [
        "",
        "soon",
        "2025-13-04 12:34:56",
        "2025-02-30 12:34:56",
        "2025-11-04 25:00:00",
        "Foo 12 10:00:00",
        "12",
        "1.2.3",
    ],
)
def test_what_is_no_time(text: str) -> None:
    assert parse_time(text) is None


def test_seconds_since_boot_have_no_date() -> None:
    moment = parse_time("12345.678901")
    assert moment == Moment(12345.678901, "uptime")
    assert iso(moment, 2025) is None


def test_only_like_clocks_compare() -> None:
    wall, zoned = Moment(1.0, "wall"), Moment(1.0, "wall", True)
    assert comparable(wall, wall)
    assert comparable(Moment(1.0, "yearless"), Moment(2.0, "yearless"))
    assert not comparable(wall, zoned)
    assert not comparable(wall, Moment(1.0, "yearless"))
    assert not comparable(Moment(1.0, "uptime"), Moment(1.0, "daytime"))


@pytest.mark.parametrize(
    ("outer", "inner", "expected"),
    [
        # the program's reading, with year and zone from the collector's
        ("2024-07-02T09:44:52.6Z", "07-02 09:44:44", "2024-07-02T09:44:44Z"),
        ("2025-01-01T00:00:03Z", "12-31 23:59:58", "2024-12-31T23:59:58Z"),
        ("2026-07-12T00:00:05Z", "23:59:58", "2026-07-11T23:59:58Z"),
        ("2026-07-12T03:01:14Z", "2026-07-12 03:01:10", "2026-07-12T03:01:10Z"),
        # the same second: the fraction is worth more
        ("2025-11-04T12:34:56.789Z", "1104 12:34:56", "2025-11-04T12:34:56.789Z"),
        # local time against UTC: what the line says in full
        ("2025-11-04T12:34:56Z", "1104 20:34:55", "2025-11-04T12:34:56Z"),
        ("2025-11-04T12:34:56Z", "12345.678901", "2025-11-04T12:34:56Z"),
        ("12345.678901", "2025-11-04 12:34:56", "2025-11-04T12:34:56"),
        ("Nov 04 12:34:56", "2025-11-04 12:34:56", "2025-11-04T12:34:56"),
    ],
)
def test_two_times_of_one_line_are_merged(outer: str, inner: str, expected: str) -> None:
    first, second = parse_time(outer), parse_time(inner)
    assert second is not None
    assert iso(refine(first, second)) == expected


@settings(max_examples=60, deadline=None)
@given(st.datetimes(datetime.datetime(1970, 1, 1), datetime.datetime(2999, 1, 1)))
def test_dates_survive_parsing_and_printing(when: datetime.datetime) -> None:
    moment = parse_time(when.strftime("%Y-%m-%d %H:%M:%S").rjust(19, "0"))
    assert moment is not None
    assert iso(moment) == when.isoformat(timespec="seconds")
    short = glog(f"{when.month}{when.day:02d}", when.strftime("%H:%M:%S"))
    assert short is not None
    assert iso(short, when.year) == when.isoformat(timespec="seconds")


@settings(max_examples=60, deadline=None)
@given(st.one_of(st.text(max_size=40), st.text(alphabet="0123456789-:/ .,+TZJan", max_size=40)))
def test_any_text_is_a_time_or_not(text: str) -> None:
    moment = parse_time(text)
    if moment is not None:
        iso(moment, 2025)
        iso(refine(moment, moment), 2025)
