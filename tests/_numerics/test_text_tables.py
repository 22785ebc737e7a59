"""Tables as text: compact, aligned, and no number is cut."""

from dcgev_cvx._numerics.text_tables import as_text, count, facts, printable, table


def test_words_are_set_left_and_numbers_right():
    made = table(("name", "ρ̃", "status"), [("a", "1.5", "ok"), ("longer", "10", "failed")], words=(0, 2))
    assert as_text(made).splitlines() == [
        "name      ρ̃  status",
        "───────────────────",
        "a       1.5  ok",
        "longer   10  failed",
    ]


def test_names_wrap_where_there_is_little_room_and_numbers_never_do():
    lines = as_text(table(("name", "value"), [("n" * 30, "3.14159")]), width=20).splitlines()
    assert "".join(line[:12].strip() for line in lines[2:]) == "n" * 30
    assert lines[2].endswith("3.14159")


def test_long_values_wrap_beside_their_names():
    lines = as_text(facts([("status", "word " * 20)])).splitlines()
    assert len(lines) == 2
    assert max(map(len, lines)) <= 80
    assert lines[1].startswith(" " * 10 + "word")


def test_text_is_printed_as_it_is_and_cannot_steer_a_terminal():
    assert as_text("[red]no markup[/red] :smile: " + 80 * "x") == "[red]no markup[/red] :smile: " + 80 * "x"
    assert printable("\x1b[31mred\ttab\nline") == "·[31mred·tab\nline"


def test_one_of_a_kind_is_singular():
    assert [count(number, "nonzero") for number in (0, 1, 2)] == ["0 nonzeros", "1 nonzero", "2 nonzeros"]


def test_in_a_notebook_the_text_is_returned_too(monkeypatch):
    """There rich would show it as HTML and write nothing."""
    monkeypatch.setattr("rich.console._is_jupyter", lambda: True)
    assert as_text("a", table(("name",), [("b",)])).split() == ["a", "name", "────", "b"]
