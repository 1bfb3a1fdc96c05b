/// Planes of floats of one size, in a buffer of a pool. One band at a time writes a row.
@safe
package final class FloatPlanes: @unchecked Sendable {  // passes write disjoint rows, then read all
  package let width: Int
  package let height: Int
  /// Floats from one plane of a row to the next. The planes of a row are adjacent.
  package let stride: Int
  private let planes: Int
  private let buffer: PixelBuffer
  private let floats: UnsafeMutablePointer<Float>

  /// Allocates planes. Their numbers are undefined.
  package init(width: Int, height: Int, planes: Int, pool: BufferPool) {
    self.width = width
    self.height = height
    self.planes = planes
    self.stride = (width + 15) & ~15
    let count = self.stride * planes * height
    self.buffer = pool.makeBuffer(byteCount: count * MemoryLayout<Float>.stride)
    unsafe self.floats = self.buffer.bytes.baseAddress.unsafelyUnwrapped
      .bindMemory(to: Float.self, capacity: count)
  }

  /// The first float of a plane's row.
  @inline(__always)
  package func row(_ y: Int, plane: Int = 0) -> UnsafeMutablePointer<Float> {
    unsafe self.floats + (y * self.planes + plane) * self.stride
  }
}

/// The planes of a picture from which a matte is refined: red, green and blue less 128, and the
/// matte in 0 ... 255, all whole numbers.
///
/// Sums of their products over a box of the guided filter are exact in floats, which avoids drift
/// of a running sum.
package typealias GuidePlanes = FloatPlanes

extension GuidePlanes {
  package static let mattePlane = 3

  /// Creates planes for a picture and its matte. Their numbers are undefined.
  package static func guide(_ size: FrameSize, pool: BufferPool) -> GuidePlanes {
    GuidePlanes(width: size.width, height: size.height, planes: 4, pool: pool)
  }

  /// Copies a picture.
  package func load(_ picture: ColorPicture) {
    precondition(picture.width == self.width && picture.height == self.height)
    unsafe picture.samples.withUnsafeBufferPointer { samples in
      for y in 0 ..< self.height {
        let (red, green, blue) = unsafe (
          self.row(y, plane: 0), self.row(y, plane: 1), self.row(y, plane: 2)
        )
        let start = 3 * y * self.width
        for x in 0 ..< self.width {
          unsafe red[x] = Float(Int32(samples[start + 3 * x]) - 128)
          unsafe green[x] = Float(Int32(samples[start + 3 * x + 1]) - 128)
          unsafe blue[x] = Float(Int32(samples[start + 3 * x + 2]) - 128)
        }
      }
    }
  }

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

  /// The picture as bytes.
  package var colorPicture: ColorPicture {
    var samples = [UInt8](repeating: 0, count: 3 * self.width * self.height)
    for y in 0 ..< self.height {
      for plane in 0 ..< 3 {
        let row = unsafe self.row(y, plane: plane)
        for x in 0 ..< self.width {
          samples[3 * (y * self.width + x) + plane] = UInt8(Int(unsafe row[x]) + 128)
        }
      }
    }
    return ColorPicture(width: self.width, height: self.height, samples: samples)
  }
}
