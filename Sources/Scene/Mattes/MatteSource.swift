import CKernels
package import SidelightKernels

/// The part of every pixel that belongs to a person, at a low resolution.
public struct MatteEstimate: Sendable, Equatable {
  /// The number of columns.
  public let width: Int
  /// The number of rows.
  public let height: Int
  /// `width * height` values, 0 is background and 1 the person.
  public let values: [Float]
  /// Whether the source is certain. A background filter that protects covers the whole frame when
  /// it is not.
  public let isSure: Bool

  /// - Precondition: `values.count == width * height`, and both sides are at least 1.
  public init(width: Int, height: Int, values: [Float], isSure: Bool = true) {
    precondition(width > 0 && height > 0 && values.count == width * height)
    self.width = width
    self.height = height
    self.values = values
    self.isSure = isSure
  }
}

extension MatteEstimate {
  /// Creates a matte that is sure unless it leaves out a face.
  ///
  /// - Parameters:
  ///   - faces: The known faces, in the pixels of `picture`.
  ///   - picture: The picture that the matte covers.
  package init(
    width: Int, height: Int, values: [Float], faces: [DetectedFace], of picture: ColorPicture
  ) {
    let matte = MatteEstimate(width: width, height: height, values: values)
    self.init(
      width: width, height: height, values: values,
      isSure: faces.allSatisfy { matte.holds($0, of: picture) })
  }

  /// Returns whether the matte contains a face: more than half of the middle of its box.
  private func holds(_ face: DetectedFace, of picture: ColorPicture) -> Bool {
    let scale = (
      x: Double(self.width) / Double(picture.width),
      y: Double(self.height) / Double(picture.height)
    )
    func range(_ center: Double, _ scale: Double, _ count: Int) -> Range<Int> {
      let middle = min(Double(count - 1), max(0, center * scale))
      let reach = min(Double(count), face.size * scale / 4)
      let start = Int(max(0, middle - reach))
      return start ..< max(start + 1, min(count, Int(middle + reach) + 1))
    }
    let columns = range(face.center.x, scale.x, self.width)
    var sum: Float = 0
    let rows = range(face.center.y, scale.y, self.height)
    for row in rows {
      for column in columns { sum += self.values[row * self.width + column] }
    }
    return sum > 0.5 * Float(rows.count * columns.count)
  }
}

/// Separates the person from the background of a picture.
///
/// A source belongs to one session, and is called by one thread at a time. ``matte(of:faces:)`` need
/// not be asynchronous.
public protocol MatteSource: Sendable {
  /// Returns the matte of a picture. Its size may differ from the picture's.
  ///
  /// - Parameters:
  ///   - picture: The reduced frame, as displayed.
  ///   - faces: The faces that are known, in the picture's pixels.
  /// - Throws: An error if the matte cannot be computed. The stage then fails.
  mutating func matte(
    of picture: ColorPicture, faces: [DetectedFace]
  ) async throws -> MatteEstimate
}

extension GuidePlanes {
  /// Copies a matte of the same size, rounded to 1/255.
  package func load(_ matte: MatteEstimate) {
    precondition(matte.width == self.width && matte.height == self.height)
    self.load(0 ..< self.height, of: matte, by: .identity)
  }

  /// Copies rows of a matte, rounded to 1/255.
  ///
  /// - Parameters:
  ///   - band: The rows of the planes.
  ///   - matte: The matte.
  ///   - map: The map from positions in the planes to positions in the matte. The nearest value
  ///     counts.
  package func load(_ band: Range<Int>, of matte: MatteEstimate, by map: AffineMap) {
    let (right, down) = (Double(matte.width - 1), Double(matte.height - 1))
    let isSame = map == .identity && matte.width == self.width && matte.height == self.height
    unsafe matte.values.withUnsafeBufferPointer { values in
      for y in band {
        let row = unsafe self.row(y, plane: Self.mattePlane)
        func set(_ x: Int, _ value: Float) {
          unsafe row[x] = Float(Int32(min(max(value, 0), 1) * 255 + 0.5))
        }
        if isSame {
          for x in 0 ..< self.width { unsafe set(x, values[y * matte.width + x]) }
        } else {
          for x in 0 ..< self.width {
            let place = map(Double(x) + 0.5, Double(y) + 0.5)
            // Positions are not negative after the limit: conversion rounds down.
            let column = Int(min(max(place.x, 0), right))
            unsafe set(x, values[Int(min(max(place.y, 0), down)) * matte.width + column])
          }
        }
      }
    }
  }
}

/// Smoothing of a matte over time where the picture does not change: the last value keeps a weight
/// of .7 exp(-(d / 10)^2), d the mean change of red, green and blue of the pixel in levels. Moving
/// edges are not delayed.
package struct MatteSmoothing: Sendable {
  private let weights: [Float]
  private var last: (picture: ColorPicture, values: [Float])?

  /// - Parameter weight: The weight of the last value in areas without change, 0 ..< 1.
  package init(weight: Double = 0.7) {
    precondition((0 ..< 1).contains(weight))
    // By the sum of three changes, up to a sum with a negligible weight.
    self.weights = (0 ..< 96).map { Float(weight * exp(-(Double($0) / 30) * (Double($0) / 30))) }
  }

  /// Smooths the matte of the next picture, of the same size. A picture of another size is the
  /// first one again.
  package mutating func smooth(_ matte: MatteEstimate, of picture: ColorPicture) -> MatteEstimate {
    precondition(matte.width == picture.width && matte.height == picture.height)
    var values = matte.values
    if let last, last.picture.width == picture.width, last.picture.height == picture.height {
      unsafe picture.samples.withUnsafeBufferPointer { now in
        unsafe last.picture.samples.withUnsafeBufferPointer { before in
          for index in values.indices {
            var change = 0
            for channel in 3 * index ..< 3 * index + 3 {
              unsafe change += abs(Int(now[channel]) - Int(before[channel]))
            }
            guard change < self.weights.count else { continue }
            values[index] += (last.values[index] - values[index]) * self.weights[change]
          }
        }
      }
    }
    self.last = (picture, values)
    return MatteEstimate(
      width: matte.width, height: matte.height, values: values, isSure: matte.isSure)
  }
}
