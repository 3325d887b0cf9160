"""What surrounds every page: navigation, theme, tokens, regions, headers of the answer."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from fastapi import Request, Response
from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from gnomon.clock import Clock, Nanos, to_nanos
from gnomon.web import figures, formats, keys
from gnomon.web.assets import Assets
from gnomon.web.forms import Forms
from gnomon.web.work import STATES

THEME_COOKIE = "gnomon_theme"
THEMES = ("auto", "light", "dark")
Theme = Literal["auto", "light", "dark"]


@dataclass(frozen=True, slots=True)
class Entry:
    """One entry of the top bar."""

    path: str
    title: str


ENTRIES: Sequence[Entry] = (Entry("/", "Overview"), Entry("/runs", "Runs"))
"""Pages that stand on top; at most seven with More."""

MORE: Sequence[Entry] = (
    Entry("/compare", "Compare"),
    Entry("/agents", "Agents"),
    Entry("/policies", "Policies"),
    Entry("/status", "Status"),
)
"""Pages behind More."""


def moment(nanos: int | None, now: int) -> Markup:
    """Return a moment as a `time` element: UTC, other zones on hover and by `z`."""
    if nanos is None:
        return Markup('<span class="muted">–</span>')
    return Markup('<time datetime="{}">{}</time>').format(
        formats.machine_time(nanos), formats.moment(nanos, now)
    )


def ident(text: str, shown: str | None = None) -> Markup:
    """Return an id that is copied by a click."""
    return Markup('<code class="id" data-copy="{}">{}</code>').format(text, shown or text)


_FILTERS = (
    *("ago", "count", "cut", "duration", "hour", "machine_time", "percent", "plural"),
    *("short_count", "size", "usd"),
)
_GLYPHS = {"ok": "✓", "error": "✕", "unknown": "?", "none": "–"}
_VERDICTS = {"pass": "ok", "fail": "error", "waiting": "none"}


def verdict(status: str, word: str | None = None) -> Markup:
    """Return a status or verdict as glyph and word; never colour alone."""
    word, status = word or status, _VERDICTS.get(status, status)
    return Markup('<span class="v {}"><i aria-hidden="true">{}</i>{}</span>').format(
        status, _GLYPHS[status], word
    )


def badge(context: keys.Context, act: str, argument: str = "") -> Markup:
    """Return what is printed on the keys of a handler."""
    printed = Markup(" ").join(
        Markup("<kbd>{}</kbd>").format(text) for text in keys.badge(context, act, argument)
    )
    return Markup('<span aria-hidden="true">{}</span>').format(printed)


class Pages:
    """Renders templates; knows the clock, the files and the forms, nothing else."""

    def __init__(self, *, assets: Assets, forms: Forms, clock: Clock, version: str, judged: bool = False) -> None:  # fmt: skip
        self._forms = forms
        self._clock = clock
        self._env = Environment(
            loader=PackageLoader("gnomon.web"),
            autoescape=True,
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
        )
        self._env.globals.update(
            asset=assets.url,
            badge=badge,
            entries=ENTRIES if judged else (*ENTRIES, MORE[-1]),
            more=MORE if judged else (),
            ident=ident,
            moment=lambda nanos: moment(nanos, self.now()),
            number=figures.number,
            rate=figures.rate,
            sheet=keys.KEYS,
            sheet_titles=keys.TITLES,
            themes=THEMES,
            verdict=verdict,
            version=version,
            states=[str(state).replace("_", " ") for state in STATES],
            judged=judged,
        )
        self._env.filters.update({name: getattr(formats, name) for name in _FILTERS})
        self._env.globals["m"] = self._env.get_template("macros.html").module

    def now(self) -> Nanos:
        """Return the present moment."""
        return to_nanos(self._clock())

    def show(
        self,
        request: Request,
        template: str,
        view: object,
        *,
        status: int = 200,
        headers: Mapping[str, str] | None = None,
    ) -> Response:
        """Return the whole page, or the region that the request names; 304 when it is known."""
        region = region_of(request)
        loaded = self._env.get_template(template)
        etag = f'W/"{digest(view, region, theme_of(request))}"'
        answer_headers = {
            "Vary": "HX-Request, HX-Target, Cookie, Accept-Encoding",
            "Cache-Control": "private, no-store",
            **(headers or {}),
        }
        if region and status == 200:
            answer_headers["ETag"] = etag
            if request.headers.get("if-none-match") == etag:
                return Response(status_code=304, headers=answer_headers)
        session = self._forms.session(request)
        values = {
            "view": view,
            "now": self.now(),
            "request_path": request.url.path,
            "here": request.url.path + (f"?{request.url.query}" if request.url.query else ""),
            "theme": theme_of(request),
            "token": lambda: self._forms.token(session),
        }
        block = loaded.blocks.get(region.replace("-", "_"))
        if block is None:
            html = loaded.render(values)
        else:
            html = "".join(block(loaded.new_context(values)))
        response = Response(
            html, status_code=status, headers=answer_headers, media_type="text/html"
        )
        self._forms.keep(request, response, session)
        return response


def digest(*parts: object) -> str:
    """Return a short digest of what a page shows."""
    return hashlib.blake2b(repr(parts).encode(), digest_size=12).hexdigest()


def region_of(request: Request) -> str:
    """Return which region of the page lite.js asks for; '' for the whole page."""
    asked = request.headers.get("hx-request") == "true"
    return request.headers.get("hx-target", "") if asked else ""


def theme_of(request: Request) -> Theme:
    """Return the theme the viewer chose."""
    match request.cookies.get(THEME_COOKIE):
        case "light":
            return "light"
        case "dark":
            return "dark"
        case _:
            return "auto"
