"""Moving scenes with known truth, 1280x720 at 30 frames per second."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Callable

import cv2
import numpy as np

from person import FACE_CENTER, FACE_SIZE, ROOT, cutout

WIDTH, HEIGHT = 1280, 720
GREEN = (64, 176, 0)


@dataclass
class Face:
    """A face in a frame, and the person with it."""

    #: The centre of the square around the face, in pixels.
    x: float
    y: float
    #: The side of the square.
    size: float
    #: Degrees, clockwise.
    roll: float = 0
    #: The share of its width that a turned head keeps.
    squeeze: float = 1
    #: Whether the back of the head is seen.
    is_away: bool = False
    is_mirrored: bool = False
    #: The rectangle beyond which the person is not drawn, as left, top, right and bottom.
    within: tuple | None = None

    @property
    def matrix(self) -> np.ndarray:
        """The map from the portrait to the frame."""
        scale = self.size / FACE_SIZE
        across = scale * self.squeeze * (-1 if self.is_mirrored else 1)
        angle = np.radians(self.roll)
        turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
        linear = turn @ np.diag([across, scale])
        return np.column_stack([linear, np.array([self.x, self.y]) - linear @ FACE_CENTER])

    def mask(self) -> np.ndarray:
        """The pixels of the face: an ellipse of 0.9 by 1.1 of the square."""
        mask = np.zeros((HEIGHT, WIDTH), np.uint8)
        axes = (0.45 * self.size * self.squeeze, 0.55 * self.size)
        cv2.ellipse(
            mask, ((self.x, self.y), (2 * axes[0], 2 * axes[1]), self.roll), 1, -1)
        return mask.astype(bool)


@dataclass
class Light:
    """The light and the camera of a frame."""

    #: The standard deviation of the noise in levels.
    noise: float = 2
    #: Factors of blue, green and red.
    gains: tuple = (1, 1, 1)
    #: The share of the light that a soft shadow on the background takes.
    shadow: float = 0


@dataclass
class Camera:
    """The place to which a camera that moves has moved the scene."""

    #: The distance in pixels.
    x: float = 0
    y: float = 0


@dataclass
class Patch:
    """A rectangle of the background that changes."""

    x: float
    y: float
    width: int
    height: int
    #: `cloth` sways, `stripes` move across, `noise` differs in every frame.
    kind: str
    #: The phase of the movement, or the number of the noise.
    phase: float = 0


@dataclass
class Moment:
    """The content of a frame."""

    faces: list[Face]
    light: Light = field(default_factory=Light)
    #: A square of fine texture before the face, such as a hand: centre and side.
    cover: tuple | None = None
    #: The movement of the camera, which moves the background; faces are in pixels of the frame.
    camera: Camera | None = None
    patches: list[Patch] = field(default_factory=list)


@dataclass
class Scene:
    name: str
    frames: int
    background: str
    moment: Callable[[int], Moment]

    def moments(self) -> list[Moment]:
        return [self.moment(number) for number in range(self.frames)]


def sine(turns: float) -> float:
    return float(np.sin(2 * np.pi * turns))


def still(frame: int) -> Moment:
    return Moment([Face(640, 300, 240)])


def moving(frame: int) -> Moment:
    """Up to 11 pixels per frame, nodding by 12 degrees."""
    return Moment([Face(
        640 + 200 * sine(frame / 120), 300 + 50 * sine(frame / 60), 240, 12 * sine(frame / 75))])


def fast(frame: int) -> Moment:
    """Up to 63 pixels per frame."""
    start = max(0, frame - 30)
    return Moment([Face(640 + 300 * sine(start / 30), 300, 240)])


def tilting(frame: int) -> Moment:
    """Up to 35 degrees to each side."""
    return Moment([Face(640, 320, 240, 35 * sine(frame / 90))])


def covered(frame: int) -> Moment:
    """A hand covers the face for 20 frames."""
    moment = Moment([Face(640 + 40 * sine(frame / 90), 300, 240)])
    place = (frame - 60) / 8
    if 0 <= place <= 1:
        moment.cover = (640 + 40 * sine(frame / 90) + 900 * (1 - place), 320, 320)
    elif 1 < place < 1 + 20 / 8:
        moment.cover = (640 + 40 * sine(frame / 90), 320, 320)
    elif place >= 1 + 20 / 8 and place < 2 + 20 / 8:
        moment.cover = (640 + 40 * sine(frame / 90) - 900 * (place - 1 - 20 / 8), 320, 320)
    return moment


def half_covered(frame: int) -> Moment:
    """A moving, tilting face, whose lower half a hand covers in the middle third."""
    face = Face(640 + 180 * sine(frame / 120), 300 + 40 * sine(frame / 60), 240,
                25 * sine(frame / 90))
    moment = Moment([face])
    if 50 <= frame < 100:
        moment.cover = (face.x, face.y + 130, 180)
    return moment


def two(frame: int) -> Moment:
    """Two people; one comes closer."""
    return Moment([
        Face(380 + 60 * sine(frame / 120), 300, 200, 8 * sine(frame / 70)),
        Face(900 + 50 * sine(frame / 90), 280, 150 + 60 * min(1, frame / 100), is_mirrored=True)])


def smooth(t: float) -> float:
    t = min(1.0, max(0.0, t))
    return t * t * (3 - 2 * t)


def hard(frame: int) -> Moment:
    """Walks in, rushes, leans by 50 degrees, turns away, is dark with a hand before the eyes, and
    steps back; 30 frames each."""
    t = frame % 30 / 30
    if frame < 30:
        return Moment([Face(1400 - 360 * t, 300, 230)])
    if frame < 60:
        return Moment([Face(1040 - 690 * smooth(t), 300, 230)])
    if frame < 90:
        lean = sine(t / 2)
        return Moment([Face(350 + 110 * lean, 300 + 30 * lean, 230, 50 * lean)])
    if frame < 120:
        # The head is narrowest in profile.
        turn = abs(2 * t - 1)
        is_away = turn < 0.4
        return Moment(
            [Face(350, 300, 230, squeeze=0.8 - turn if is_away else turn, is_away=is_away)])
    if frame < 150:
        moment = Moment([Face(350 + 24 * t, 300, 230)], Light(gains=(0.3, 0.3, 0.3), noise=4))
        moment.cover = (300 + 24 * t, 260, 100)
        return moment
    return Moment([Face(374 + 160 * t, 300 - 50 * t, 230 - 100 * t)])


def walking_in(frame: int) -> Moment:
    """A second person walks in after 60 frames."""
    faces = [Face(380, 320, 210)]
    if frame >= 60:
        faces.append(Face(max(1400 - 12 * (frame - 60), 960), 280, 150, is_mirrored=True))
    return Moment(faces)


def seen_by(camera: Callable[[int], Camera], moment: Callable[[int], Moment]
            ) -> Callable[[int], Moment]:
    """A scene as a camera that moves sees it."""
    def moved(frame: int) -> Moment:
        place, content = camera(frame), moment(frame)
        for part in content.faces + content.patches:
            part.x += place.x
            part.y += place.y
        content.camera = place
        return content
    return moved


def hand(frame: int) -> Camera:
    """Shakes by 3 pixels, at 1 to 6 times a second."""
    return Camera(*(
        1.6 * sine(frame / 28 + start) + 0.9 * sine(frame / 11 + 2 * start)
        + 0.5 * sine(frame / 5 + 3 * start) for start in (0.1, 0.6)))


def sway(frame: int) -> Camera:
    """Sways by 20 pixels in 1.5 seconds, as an arm does."""
    shake = hand(frame)
    return Camera(20 * sine(frame / 45) + shake.x, 6 * sine(frame / 60) + shake.y)


def pan(frame: int) -> Camera:
    """Pans by up to 30 pixels a second, to both sides."""
    shake = hand(frame)
    return Camera(57 * sine(frame / 360) + shake.x / 2, shake.y / 2)


def swaying_pair(frame: int) -> Moment:
    """Two people who sway, each by 45 pixels."""
    return Moment([
        Face(380 + 45 * sine(frame / 75), 310 + 6 * sine(frame / 37), 200, 4 * sine(frame / 75)),
        Face(900 + 45 * sine(frame / 64 + 0.3), 290 + 6 * sine(frame / 32), 170,
             -4 * sine(frame / 64 + 0.3), is_mirrored=True)])


def person_at_the_edge(frame: int) -> Moment:
    """A person, and one outside of the picture, whom the camera reaches."""
    return Moment([
        Face(560 + 10 * sine(frame / 80), 310, 200),
        Face(1350, 290, 130, is_mirrored=True)])


def slow_pan(frame: int) -> Camera:
    """Pans by 30 pixels a second to one side."""
    shake = hand(frame)
    return Camera(-max(0, frame - 45) + shake.x / 2, shake.y / 2)


def appearing(kind: str) -> Callable[[int], Moment]:
    """A region of a tenth of the picture moves for three seconds; then it shows a face at rest."""
    def moment(frame: int) -> Moment:
        phase = min(frame, 95)
        patch = Patch(960, 340, 300, 307, kind, phase)
        faces = [Face(380 + 8 * sine(frame / 90), 310, 210)]
        if frame >= 95:
            faces.append(Face(960, 330, 150, is_mirrored=True, within=(810, 187, 1110, 493)))
        return Moment(faces, patches=[patch])
    return moment


def condition(light: Callable[[int], Light]) -> Callable[[int], Moment]:
    """A person who moves slowly, in some light."""
    return lambda frame: Moment(
        [Face(640 + 110 * sine(frame / 80), 250, 170, 6 * sine(frame / 50))], light(frame))


def drift(frame: int) -> Light:
    gain = 1 + 0.22 * sine(frame / 80)
    return Light(gains=(gain, gain, gain))


def lamp(frame: int) -> Light:
    """A warm lamp goes on within ten frames."""
    on = smooth((frame - 25) / 10)
    return Light(gains=(1 - 0.08 * on, 1 + 0.08 * on, 1 + 0.2 * on))


FACE_SCENES = [
    Scene("still", 90, "office", still), Scene("moving", 150, "office", moving),
    Scene("fast", 120, "office", fast), Scene("tilting", 150, "office", tilting),
    Scene("covered", 150, "office", covered), Scene("half-covered", 150, "office", half_covered),
    Scene("two", 120, "office", two)]
HARD = Scene("hard", 180, "office", hard)
WALKING_IN = Scene("walking-in", 150, "office", walking_in)
#: Cameras that move.
CAMERAS = [
    Scene("hand-held", 180, "office", seen_by(hand, condition(lambda frame: Light()))),
    Scene("hand-held-pair", 180, "office", seen_by(hand, swaying_pair)),
    Scene("swaying-camera", 180, "office", seen_by(sway, condition(lambda frame: Light()))),
    Scene("panning-pair", 360, "office", seen_by(pan, swaying_pair)),
    Scene("swaying-pair", 180, "office", swaying_pair),
    Scene("panning-in", 240, "office", seen_by(slow_pan, person_at_the_edge))]
#: A face that appears in a region that moves.
APPEARING = [
    Scene(f"appearing-in-{kind}", 150, "office", appearing(kind))
    for kind in ("cloth", "stripes", "noise")]
CONDITIONS = {
    "calm": ("wall", lambda frame: Light()),
    "shadow": ("wall", lambda frame: Light(shadow=0.4)),
    "noise": ("wall", lambda frame: Light(noise=10)),
    "exposure": ("wall", drift),
    "lamp": ("wall", lamp),
    "busy": ("busy", lambda frame: Light())}


def matte_scene(name: str, background: str | None = None) -> Scene:
    room, light = CONDITIONS[name]
    return Scene(f"matte-{name}", 60, background or room, condition(light))


def photograph(media: Path | None) -> np.ndarray:
    """A picture with fine texture: one without a face from the media, or the office's tiles."""
    path = media / "coffee.png" if media else None
    if path and path.exists():
        return cv2.resize(cv2.imread(str(path)), (WIDTH, HEIGHT), interpolation=cv2.INTER_CUBIC)
    random = np.random.default_rng(5)
    shapes = np.full((HEIGHT, WIDTH, 3), 120, np.uint8)
    for _ in range(900):
        x, y, side = random.integers(0, WIDTH), random.integers(0, HEIGHT), random.integers(8, 90)
        color = tuple(int(level) for level in random.integers(20, 235, 3))
        cv2.rectangle(shapes, (x, y), (x + side, y + side // 2), color, -1)
    return shapes


class Painter:
    """Draws scenes."""

    def __init__(self, media: Path | None):
        y, x = np.mgrid[0:HEIGHT, 0:WIDTH].astype(np.float32)
        wall = np.dstack([150 + x / 40, 158 + x / 60 - y / 60, 165 - y / 40])
        self.backgrounds = {
            "wall": wall,
            "office": cv2.imread(str(ROOT / "Examples/media/office.jpg")),
            "busy": photograph(media),
            "green": np.full((HEIGHT, WIDTH, 3), GREEN) * (1.05 - 0.25 * (y / HEIGHT))[..., None]}
        self.backgrounds = {
            name: picture.astype(np.float32) for name, picture in self.backgrounds.items()}
        self.person = cutout().astype(np.float32)
        # The back of the head: the face in the colour of the hair.
        self.away = self.person.copy()
        mask = np.zeros(self.away.shape[:2], np.float32)
        cv2.ellipse(mask, (224, 118), (58, 74), 0, 0, 360, 1, -1)
        mask = cv2.GaussianBlur(mask, (0, 0), 3)[..., None]
        hair = cv2.GaussianBlur(self.person[30:60, 170:280, :3], (0, 0), 1)
        hair = np.tile(hair, (20, 6, 1))[:512, :512]
        self.away[..., :3] = self.away[..., :3] * (1 - mask) + hair * mask
        self.hand = cv2.resize(
            np.random.default_rng(7).normal(0, 14, (80, 80, 1)).astype(np.float32),
            (320, 320))[..., None] + np.array([120, 150, 205], np.float32)
        self.random = np.random.default_rng(1)

    def draw(self, background: str, moment: Moment) -> tuple[np.ndarray, np.ndarray]:
        """Returns the picture, BGR, and the share of every pixel that is a person."""
        picture = self._background(background, moment.camera)
        for patch in moment.patches:
            self._patch(picture, patch)
        light = moment.light
        if light.shadow and moment.faces:
            picture *= 1 - light.shadow * self._shadow(moment.faces[0])[..., None]
        truth = np.zeros((HEIGHT, WIDTH), np.float32)
        for face in moment.faces:
            source = self.away if face.is_away else self.person
            premultiplied = np.dstack(
                [source[..., :3] * source[..., 3:] / 255, source[..., 3] / 255])
            # Means where the picture shrinks, so small faces have no false detail.
            scale = face.size / FACE_SIZE
            if scale < 0.7:
                premultiplied = cv2.GaussianBlur(premultiplied, (0, 0), 0.35 / scale)
            drawn = cv2.warpAffine(premultiplied, face.matrix, (WIDTH, HEIGHT))
            if face.within:
                left, top, right, bottom = face.within
                inside = np.zeros_like(drawn)
                inside[top:bottom, left:right] = drawn[top:bottom, left:right]
                drawn = inside
            alpha = drawn[..., 3]
            picture = drawn[..., :3] + picture * (1 - alpha[..., None])
            truth = alpha + truth * (1 - alpha)
        if moment.cover:
            x, y, side = (round(value) for value in moment.cover)
            self._cover(picture, truth, x, y, side)
        picture *= np.array(light.gains, np.float32)
        # Noise is made once, and shifted: drawing it for every frame takes most of the time.
        picture += light.noise * self._noise()
        return np.clip(np.round(picture), 0, 255).astype(np.uint8), truth

    def _background(self, name: str, camera: Camera | None) -> np.ndarray:
        picture = self.backgrounds[name]
        if camera is None:
            return picture.copy()
        # A larger background, of which the camera sees a part.
        scale = 1.25
        matrix = np.array([
            [scale, 0, camera.x - WIDTH * (scale - 1) / 2],
            [0, scale, camera.y - HEIGHT * (scale - 1) / 2]])
        return cv2.warpAffine(
            picture, matrix, (WIDTH, HEIGHT), flags=cv2.INTER_CUBIC, borderMode=cv2.BORDER_REFLECT)

    def _patch(self, picture: np.ndarray, patch: Patch) -> None:
        width, height = patch.width, patch.height
        if patch.kind == "noise":
            random = np.random.default_rng(int(patch.phase))
            levels = cv2.resize(
                random.integers(40, 216, (height // 20, width // 20)).astype(np.float32),
                (width, height), interpolation=cv2.INTER_LINEAR)
        else:
            y, x = np.mgrid[:height, :width].astype(np.float32)
            if patch.kind == "cloth":
                x = x + (6 + y / 12) * sine(patch.phase / 40) * np.sin(y / 60 + patch.phase / 9)
                levels = 128 + 60 * np.sin(x / 11) + 20 * np.sin(y / 5 + x / 31)
            else:
                levels = 128 + 70 * np.sign(np.sin((x + 9 * patch.phase) / 13))
        left, top = round(patch.x - width / 2), round(patch.y - height / 2)
        part = picture[max(0, top):top + height, max(0, left):left + width]
        part[:] = levels[:part.shape[0], :part.shape[1], None] * np.array([0.9, 1, 1.05])

    def room(self, background: str) -> np.ndarray:
        return np.clip(self.backgrounds[background], 0, 255).astype(np.uint8)

    def _noise(self) -> np.ndarray:
        if not hasattr(self, "_normal"):
            shape = (HEIGHT + 64, WIDTH + 64, 3)
            self._normal = self.random.standard_normal(shape, np.float32)
        y, x = self.random.integers(0, 64, 2)
        return self._normal[y:y + HEIGHT, x:x + WIDTH]

    def _shadow(self, face: Face) -> np.ndarray:
        shadow = cv2.warpAffine(
            self.person[..., 3] / 255, face.matrix + np.array([[0, 0, 110], [0, 0, 40]]),
            (WIDTH, HEIGHT))
        return cv2.GaussianBlur(shadow, (0, 0), 14)

    def _cover(self, picture, truth, x: int, y: int, side: int) -> None:
        hand = cv2.resize(self.hand, (side, side))
        left, top = x - side // 2, y - side // 2
        x0, y0, x1, y1 = max(left, 0), max(top, 0), min(left + side, WIDTH), min(top + side, HEIGHT)
        if x0 < x1 and y0 < y1:
            picture[y0:y1, x0:x1] = hand[y0 - top:y1 - top, x0 - left:x1 - left]
            truth[y0:y1, x0:x1] = 1


def i420(picture: np.ndarray) -> np.ndarray:
    return cv2.cvtColor(picture, cv2.COLOR_BGR2YUV_I420)


def rgba(picture: np.ndarray) -> np.ndarray:
    return cv2.cvtColor(picture, cv2.COLOR_BGR2RGBA)


def from_i420(frame: np.ndarray) -> np.ndarray:
    return cv2.cvtColor(frame.reshape(HEIGHT * 3 // 2, WIDTH), cv2.COLOR_YUV2BGR_I420)
