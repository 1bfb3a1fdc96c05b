#if Vision
  import CVision
  import SidelightKernels
  package import SidelightScene

  /// Mattes of head and shoulders, guessed from the faces and adapted to the picture's colours by
  /// using GrabCut (Rother, Kolmogorov and Blake 2004).
  ///
  /// Works at half the picture's resolution, 160x90. The last matte replaces the guess where
  /// neither is certain. Hair and hats before busy rooms are lost: a filter with this matte does
  /// not protect.
  package struct PortraitMatteSource: MatteSource {
    private static let iterations = 2
    /// The pixels of the picture along every side of a pixel of the matte.
    private static let factor = 2
    /// The shares of the picture below which regions are dropped and holes filled.
    private static let minRegion = 0.02
    private static let minHole = 0.02
    /// The part of the guessed outline that the result must cover, and the part of the picture that
    /// must remain background.
    private static let minCover = 0.3
    private static let minBackground = 0.05

    /// The last matte, and the position of the largest face in it.
    private var last: (matte: MatteEstimate, face: DetectedFace)?

    package init() {}

    /// Returns the matte of a picture, at half its size.
    ///
    /// It is unsure without a known face, or if the colours of person and background are too
    /// similar to divide.
    ///
    /// - Throws: ``VisionError`` if OpenCV fails.
    package mutating func matte(
      of picture: ColorPicture, faces: [DetectedFace]
    ) throws -> MatteEstimate {
      let small = Self.reduced(picture)
      let (width, height) = (small.width, small.height)
      let known = faces.map { Self.reduced($0) }.filter { $0.size >= 4 }
      guard let face = known.max(by: { $0.size < $1.size }) else {
        return MatteEstimate(
          width: width, height: height, values: [Float](repeating: 0, count: width * height),
          isSure: false)
      }
      var labels = [UInt8](repeating: UInt8(cvision_background), count: width * height)
      var guessed = 0
      for y in 0 ..< height {
        for x in 0 ..< width {
          let place = PicturePoint(x: Double(x) + 0.5, y: Double(y) + 0.5)
          let label = known.map { PortraitOutline.label(place, of: $0) }.max() ?? .background
          if label >= .perhapsPerson { guessed += 1 }
          labels[y * width + x] = self.code(label, place, face)
        }
      }
      // GrabCut needs colours of both.
      guard labels.contains(where: { $0 & 1 == 1 }), labels.contains(where: { $0 & 1 == 0 }) else {
        return MatteEstimate(
          width: width, height: height, values: labels.map { Float($0 & 1) }, isSure: false)
      }
      let result = unsafe cvision_segment(
        small.samples, Int32(width), Int32(height), &labels, Int32(Self.iterations))
      guard result == 0 else {
        throw VisionError(.failed, "the portrait matte failed: \(VisionError.lastFailure)")
      }
      var values = labels.map { Float($0 & 1) }
      MatteRegions.clean(
        &values, width: width, height: height, minRegion: Self.minRegion,
        minHole: Self.minHole)
      let covered = values.count { $0 >= 0.5 }
      let isSure =
        Double(covered) >= Self.minCover * Double(guessed)
        && Double(values.count - covered) >= Self.minBackground * Double(values.count)
      let matte = MatteEstimate(width: width, height: height, values: values, isSure: isSure)
      self.last = isSure ? (matte, face) : nil
      return matte
    }

    /// The label of a pixel for OpenCV, from the last matte where the outline is not certain.
    private func code(
      _ label: PortraitOutline.Label, _ place: PicturePoint, _ face: DetectedFace
    ) -> UInt8 {
      switch label {
      case .background: return UInt8(cvision_background)
      case .person: return UInt8(cvision_person)
      case .perhapsBackground, .perhapsPerson: break
      }
      var isPerson = label == .perhapsPerson
      if let (matte, before) = self.last {
        let scale = before.size / face.size
        let x = before.center.x + (place.x - face.center.x) * scale
        let y = before.center.y + (place.y - face.center.y) * scale
        if x >= 0, y >= 0, x < Double(matte.width), y < Double(matte.height) {
          isPerson = matte.values[Int(y) * matte.width + Int(x)] >= 0.5
        }
      }
      return UInt8(isPerson ? cvision_perhaps_person : cvision_perhaps_background)
    }

    private static func reduced(_ face: DetectedFace) -> DetectedFace {
      var face = face
      face.center.x /= Double(Self.factor)
      face.center.y /= Double(Self.factor)
      face.size /= Double(Self.factor)
      return face
    }

    /// The means of 2x2 pixels; an odd last row or column is left out.
    private static func reduced(_ picture: ColorPicture) -> ColorPicture {
      guard picture.width >= Self.factor, picture.height >= Self.factor else { return picture }
      let (width, height) = (picture.width / Self.factor, picture.height / Self.factor)
      var samples: [UInt8] = []
      samples.reserveCapacity(3 * width * height)
      let row = 3 * picture.width
      for y in 0 ..< height {
        for x in 0 ..< width {
          for channel in 0 ..< 3 {
            let start = 2 * y * row + 6 * x + channel
            let sum =
              Int(picture.samples[start]) + Int(picture.samples[start + 3])
              + Int(picture.samples[start + row]) + Int(picture.samples[start + row + 3])
            samples.append(UInt8((sum + 2) / 4))
          }
        }
      }
      return ColorPicture(width: width, height: height, samples: samples)
    }
  }

  /// The outline of head and shoulders around a face, in widths of its canonical box.
  private enum PortraitOutline {
    enum Label: Int, Comparable {
      case background, perhapsBackground, perhapsPerson, person

      static func < (left: Label, right: Label) -> Bool { left.rawValue < right.rawValue }
    }

    static func label(_ place: PicturePoint, of face: DetectedFace) -> Label {
      let x = (place.x - face.center.x) / face.size
      let y = (place.y - face.center.y) / face.size
      func ellipse(_ centerY: Double, _ a: Double, _ b: Double) -> Double {
        (x / a) * (x / a) + ((y - centerY) / b) * ((y - centerY) / b)
      }
      // The face, and the chest below it.
      if ellipse(0.02, 0.36, 0.48) <= 1 || (y > 1.1 && abs(x) < 0.5) { return .person }
      let body = Self.halfWidth(y)
      if ellipse(-0.12, 0.62, 0.82) <= 1 || abs(x) < body { return .perhapsPerson }
      let isNear = ellipse(-0.1, 1.1, 1.35) <= 1 || (y > 0.3 && abs(x) < 1.45 * body + 0.5)
      return isNear ? .perhapsBackground : .background
    }

    /// Half the width of neck and shoulders; 0 above the neck.
    private static func halfWidth(_ y: Double) -> Double {
      guard y > 0.5 else { return 0 }
      let t = min((y - 0.55) / 0.8, 1)
      return t <= 0 ? 0.35 : 0.35 + t * t * (3 - 2 * t)
    }
  }
#endif
