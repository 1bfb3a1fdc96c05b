import SidelightServer
import SidelightVision

/// A finder of faces: it finds the magenta part of a picture, such as a disc of paper, as if it
/// were an upright face.
struct MarkerFinder: FaceFinder {
  var needsColor: Bool { true }

  func faces(in picture: LumaPicture) -> [DetectedFace] { [] }

  func faces(
    in picture: LumaPicture, color: ColorPicture?, search: FaceSearch
  ) -> [DetectedFace] {
    guard let color else { return [] }
    var (count, x, y) = (0.0, 0.0, 0.0)
    for index in 0 ..< color.width * color.height {
      let (red, green, blue) = (
        color.samples[3 * index], color.samples[3 * index + 1], color.samples[3 * index + 2]
      )
      guard red > 160, green < 96, blue > 160 else { continue }
      count += 1
      x += Double(index % color.width) + 0.5
      y += Double(index / color.width) + 0.5
    }
    // Fewer pixels are noise.
    guard count >= 16 else { return [] }
    let face = DetectedFace(
      center: PicturePoint(x: x / count, y: y / count), size: count.squareRoot())
    return search.includes(face) ? [face] : []
  }
}
