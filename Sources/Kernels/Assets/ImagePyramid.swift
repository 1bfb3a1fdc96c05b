import Synchronization

/// An image and its reductions by 2, 4, 8 ..., for stickers of every size. Plans share it.
///
/// A pixel of a reduction is the mean of 2x2 pixels, rounded; beyond the right and bottom edge the
/// image is transparent. A reduction therefore covers the same area as the image.
package final class ImagePyramid: Sendable {
  /// One reduction of the image.
  package struct Level: Sendable {
    /// Premultiplied red, green, blue and alpha.
    package let raster: Raster
    /// The pixels of the image along every side of a pixel.
    package let factor: Double
  }

  package let size: FrameSize
  private let levels: [Level]
  /// The image, which owns the first level.
  private let image: ImageAsset

  init(_ image: ImageAsset) {
    self.image = image
    self.size = image.size
    var levels = [Level(raster: image.raster(in: .sRGBGamma), factor: 1)]
    while let last = levels.last, max(last.raster.size.width, last.raster.size.height) > 1,
      let raster = Self.halved(last.raster)
    {
      levels.append(Level(raster: raster, factor: 2 * last.factor))
    }
    self.levels = levels
  }

  /// The memory of the reductions, in bytes.
  package var byteCount: Int {
    self.levels.dropFirst().reduce(0) { sum, level in
      sum + level.raster.size.height * level.raster.view.stride(plane: 0)
    }
  }

  /// Returns the level with pixels nearest in size to the frame's pixels.
  ///
  /// - Parameter step: The pixels of the image from one pixel of the frame to the next.
  package func level(step: Double) -> Level {
    // A level is right from 0.7 to 1.4 of its pixels to one of the frame.
    let index = self.levels.firstIndex { step < $0.factor * 2.0.squareRoot() }
    return self.levels[index ?? self.levels.count - 1]
  }

  private static func halved(_ raster: Raster) -> Raster? {
    let (width, height) = (raster.size.width, raster.size.height)
    let size = FrameSize(width: (width + 1) / 2, height: (height + 1) / 2)
    guard let layout = try? FrameLayout(aligned: .rgba8, size: size) else { return nil }
    let result = Raster(layout: layout, depth: .deep, pool: BufferPool(maxIdleBytes: 0))
    for y in 0 ..< size.height {
      let upper = unsafe raster.row(2 * y).assumingMemoryBound(to: SIMD4<Int16>.self)
      let lower = unsafe raster.row(min(2 * y + 1, height - 1))
        .assumingMemoryBound(to: SIMD4<Int16>.self)
      let hasLower = 2 * y + 1 < height
      let out = unsafe result.row(y).assumingMemoryBound(to: SIMD4<Int16>.self)
      for x in 0 ..< size.width {
        let hasRight = 2 * x + 1 < width
        var sum = unsafe SIMD4<Int32>(truncatingIfNeeded: upper[2 * x])
        if hasRight { unsafe sum &+= SIMD4(truncatingIfNeeded: upper[2 * x + 1]) }
        if hasLower {
          unsafe sum &+= SIMD4(truncatingIfNeeded: lower[2 * x])
          if hasRight { unsafe sum &+= SIMD4(truncatingIfNeeded: lower[2 * x + 1]) }
        }
        unsafe out[x] = SIMD4(truncatingIfNeeded: (sum &+ 2) &>> 2)
      }
    }
    return result
  }
}

/// The pyramid of an image while a plan uses it.
final class ImagePyramidCache: Sendable {
  private struct State {
    weak var pyramid: ImagePyramid?
  }

  private let state = Mutex(State())

  fileprivate func pyramid(of image: ImageAsset) -> ImagePyramid {
    // Made within the lock: two plans of a new image need it at the same time, and one makes it.
    self.state.withLock { state in
      if let pyramid = state.pyramid { return pyramid }
      let pyramid = ImagePyramid(image)
      state.pyramid = pyramid
      return pyramid
    }
  }
}

extension ImageAsset {
  /// The image and its reductions. The plans that use them own them.
  package var pyramid: ImagePyramid { self.pyramids.pyramid(of: self) }
}
