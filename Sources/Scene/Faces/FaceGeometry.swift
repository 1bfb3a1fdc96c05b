package import SidelightKernels

/// A point of a face that a sticker is attached to.
package enum FaceAnchor: String, Sendable, Hashable, CaseIterable {
  /// The centre of the face.
  case face
  /// The point between the eyes.
  case eyes
  /// The middle of the forehead, below the hair.
  case forehead
  /// The middle of the mouth.
  case mouth

  /// The position in the canonical box of ``DetectedFace``, 0 to 1 from its left and top.
  ///
  /// Eyes and mouth are the points that define the box. The forehead is as far above the eyes as
  /// the eyes are above the tip of the nose, half the way to the mouth.
  package var position: (u: Double, v: Double) {
    switch self {
    case .face: (0.5, 0.5)
    case .eyes: (0.49, 0.37)
    case .forehead: (0.49, 0.16)
    case .mouth: (0.5, 0.79)
    }
  }
}

/// The placement of a picture on a face.
///
/// With the face width `s`, the centre of the picture is `anchor + s offset`, and its width is
/// `s scale`. With ``rotates``, offset and picture turn with the face: `anchor + s R(roll) offset`.
/// The anchor always moves with the face.
package struct StickerPlacement: Sendable, Hashable {
  /// The point of the face.
  package var anchor: FaceAnchor
  /// The distance of the picture's centre from the anchor, in face widths: x to the right, y down.
  package var offset: PicturePoint
  /// The width of the picture in face widths. Greater than 0.
  package var scale: Double
  /// Whether the picture turns with the face.
  package var rotates: Bool

  package init(
    anchor: FaceAnchor, offset: PicturePoint = PicturePoint(x: 0, y: 0), scale: Double = 1,
    rotates: Bool = true
  ) {
    self.anchor = anchor
    self.offset = offset
    self.scale = scale
    self.rotates = rotates
  }

  /// Returns the movement from the pixels of the picture to the pixels of the frame.
  ///
  /// - Parameters:
  ///   - width: The picture's width. Greater than 0.
  ///   - height: The picture's height.
  ///   - face: The face, in the frame's pixels.
  package func transform(width: Double, height: Double, on face: FaceBox) -> SimilarityTransform {
    let (u, v) = self.anchor.position
    let roll = self.rotates ? face.roll : 0
    let center = face.point(u: u, v: v) + face.size * self.offset.turned(by: roll)
    return SimilarityTransform(
      scale: face.size * self.scale / width, rotation: roll,
      from: PicturePoint(x: width / 2, y: height / 2), to: center)
  }
}
