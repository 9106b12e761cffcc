"""Texts, whoever wrote them: in one line, and whether they can be written down."""


def one_line(text: str) -> str:
    """Put a text in one line."""
    return " ".join(text.split())


def is_encodable(text: str) -> bool:
    """Tell whether no half of a surrogate pair stands in a text, so that UTF-8 can hold it."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
