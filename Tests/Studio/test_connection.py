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
