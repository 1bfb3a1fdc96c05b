"""Latency, drops and passes."""

REASONS = {
    "SUPERSEDED", "LATE_ON_ARRIVAL", "LATE_IN_PIPELINE", "LATE_ON_OUTPUT", "NO_CREDIT",
    "OUTPUT_SUPERSEDED",
}


def test_the_figures_are_those_of_the_frames(page):
    page.use_camera("sepiaTone")
    page.until("() => Number(document.querySelector('#latency-p50').dataset.value) > 0")
    p50, p95, server = page.run(
        """() => ["latency-p50", "latency-p95", "server-time"].map((id) =>
            Number(document.getElementById(id).dataset.value))"""
    )
    assert 0 < server < p50 <= p95


def test_an_overload_drops_frames_with_a_reason_and_the_picture_goes_on(page):
    page.use_camera("sepiaTone")
    page.enter("#budget", "0")
    page.enter("#slow-motion", "12")
    page.until(
        """(reasons) => [...document.querySelectorAll("#drop-counts [data-reason]")].some((each) =>
            reasons.includes(each.dataset.reason) && Number(each.dataset.count) >= 5)""",
        sorted(REASONS),
    )
    page.until("() => document.querySelectorAll('#drop-log li').length")
    page.until("() => Number(document.querySelector('#fps').dataset.value) > 0")
    # The stages belong to slow motion, not to the user.
    assert page.pipeline() == "sepiaTone"
    assert page.stages() == ["sepiaTone"]


def test_passes_show_which_stages_are_computed_together_and_the_time_of_each(page):
    page.enter_text("sepiaTone, colorInvert, crystallize(radius: 12)")
    page.until("() => document.querySelectorAll('#passes [data-time]').length === 2")
    passes = page.run(
        """() => [...document.querySelectorAll("#passes .pass")].map((each) =>
            [each.querySelector(".pass-name").textContent,
                Number(each.querySelector("[data-time]").dataset.time)])"""
    )
    assert [name for name, _ in passes] == ["sepiaTone + colorInvert", "crystallize"]
    # Crystals search their neighbourhood; two colour matrices are one.
    assert passes[1][1] > passes[0][1]
    times = page.run(
        "() => [...document.querySelectorAll('#stages .stage-time')].map((e) => e.textContent)"
    )
    assert len(times) == 3 and all(each.endswith("ms") for each in times)
