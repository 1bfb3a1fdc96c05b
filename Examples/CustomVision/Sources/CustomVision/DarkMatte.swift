import SidelightVision

/// A matte: everything that is darker than the wall behind it is the person.
struct DarkMatte: MatteSource {
  func matte(of picture: ColorPicture, faces: [DetectedFace]) -> MatteEstimate {
    let values = (0 ..< picture.width * picture.height).map { index -> Float in
      picture.samples[3 * index ..< 3 * index + 3].max() ?? 0 < 128 ? 1 : 0
    }
    return MatteEstimate(width: picture.width, height: picture.height, values: values)
  }
}
