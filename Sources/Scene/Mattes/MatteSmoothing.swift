#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

import SidelightKernels

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
