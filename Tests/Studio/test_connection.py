"""Lost connections, and pages that are not signed in."""

from studiotesting.page import StudioPage
from studiotesting.studio import Proxy, Studio


def test_a_lost_connection_is_opened_again_with_the_same_filters(browser):
    with Studio() as studio, Proxy(studio.port) as proxy:
        page = StudioPage(browser, studio.url.replace(str(studio.port), str(proxy.port), 1))
        page.wait_until_ready()
        page.use_camera("colorInvert")
        page.wait_for_picture("c.red[0] < 60 && c.red[1] > 200")
        proxy.cut()
        page.until("() => document.querySelector('#connection').dataset.state === 'lost'")
        assert page.text("#screen-message")
        # A change meanwhile is in force afterwards.
        page.enter('[data-parameter="mix"] input[type=range]', "0")
        proxy.restore()
        page.wait_until_ready()
        page.wait_for_picture("c.red[0] > 200 && c.red[1] < 60")
        assert page.pipeline() == "colorInvert @mix(0)"
        page.close()


def test_a_text_that_was_entered_without_a_connection_is_selected_afterwards(browser):
    with Studio() as studio, Proxy(studio.port) as proxy:
        page = StudioPage(browser, studio.url.replace(str(studio.port), str(proxy.port), 1))
        page.wait_until_ready()
        page.use_camera()
        page.wait_for_picture("c.red[0] > 200 && c.red[1] < 60")
        proxy.cut()
        page.enter_text("colorInvert")
        page.until("() => document.querySelector('#pipeline-text').dataset.state === 'invalid'")
        assert "connection" in page.text("#text-problem")
        proxy.restore()
        page.wait_for_picture("c.red[0] < 60 && c.red[1] > 200")
        assert page.run("() => document.querySelector('#text-problem').hidden")
        page.close()


def test_a_problem_of_the_link_is_shown_also_after_the_connection_opens(browser):
    with Studio() as studio, Proxy(studio.port) as proxy:
        url = studio.url.replace(str(studio.port), str(proxy.port), 1)
        page = StudioPage(browser, f"{url}#p=sepiaTome")
        page.until("() => document.querySelector('#banner').textContent.includes('not valid')")
        page.until("() => document.querySelector('#connection').dataset.state === 'open'")
        proxy.cut()
        page.until("() => document.querySelector('#connection').dataset.state === 'lost'")
        proxy.restore()
        page.until("() => document.querySelector('#connection').dataset.state === 'open'")
        assert "not valid" in page.text("#banner")
        page.close()


def test_a_page_of_an_earlier_server_says_how_to_sign_in_again(browser):
    with Studio() as studio:
        page = StudioPage(browser, studio.url)
        page.wait_until_ready()
        port = studio.port
    page.until("() => document.querySelector('#connection').dataset.state === 'lost'")
    with Studio(port=port):
        page.until(
            "() => document.querySelector('#connection').dataset.state === 'signed-out'"
        )
        assert "Open the URL that sidelight studio printed" in page.text("#banner")
    page.close()


def test_two_studios_in_one_browser_do_not_sign_each_other_out(browser):
    """Browsers send the cookies of a host to all of its ports."""
    with Studio() as one, Studio() as other:
        pages = [StudioPage(browser, each.url) for each in (one, other)]
        for page in pages:
            page.wait_until_ready()
        for page in pages:
            page.load(page.run("() => location.origin + '/'"))
            page.wait_until_ready()
            page.close()
