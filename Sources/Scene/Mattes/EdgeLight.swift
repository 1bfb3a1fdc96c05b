import CKernels
import SidelightKernels

/// The light of a backdrop that falls on the edges of a person before it.
///
/// A colour c of alpha a becomes c + a l, l = amount * 2 (1 - blur(cover)) * blur(backdrop), both
/// blurs at the resolution of the reduced picture. It is 0 where the person covers everything
/// around.
struct Backlight: Sendable {
  private let amount: Float
  /// The blurred backdrop: premultiplied red, green and blue in levels.
  private let light: FloatPlanes
  private let factor: Int
  private let geometry: FrameGeometry
  private let matrix: [Float]

  /// The radii of the blurs.
  private static let backdropRadii = [8, 8]
  private static let coverRadii = [3, 3]
  /// The share of background around a pixel below which light doesn't fall on it.
  private static let minShare: Float = 0.01

  /// - Parameters:
  ///   - geometry: The geometry of frames.
  ///   - reduction: Their reduction.
  ///   - amount: The strength; 0 disables the light.
  ///   - backdrop: The backdrop's premultiplied pixels.
  /// - Returns: `nil` if the backdrop doesn't give light.
  init?(
    _ geometry: FrameGeometry, _ reduction: FrameReduction, amount: Double,
    backdrop: (_ x: Int, _ y: Int) -> SIMD4<Double>
  ) {
    guard amount > 0 else { return nil }
    let (size, factor) = (reduction.size, reduction.factor)
    let light = FloatPlanes(
      width: size.width, height: size.height, planes: 4, pool: BufferPool(maxIdleBytes: 0))
    var isDark = true
    for y in 0 ..< size.height {
      for plane in 0 ..< 4 {
        unsafe light.row(y, plane: plane).update(repeating: 0, count: size.width)
      }
      for x in 0 ..< size.width {
        let color = backdrop(
          min(x * factor + factor / 2, geometry.size.width - 1),
          min(y * factor + factor / 2, geometry.size.height - 1))
        for plane in 0 ..< 3 where color[plane] > 0 {
          unsafe light.row(y, plane: plane)[x] = Float(min(color[plane], 1) * 255)
          isDark = false
        }
      }
    }
    guard !isDark else { return nil }
    self.light = Self.blurred(light, Self.backdropRadii, count: 3)
    self.amount = Float(amount)
    self.factor = factor
    self.geometry = geometry
    // The differences of codes: alpha, which is 0, doesn't give an offset.
    self.matrix = MatteCoding(geometry).encoding.flatMap { $0.map(Float.init) }
  }

  /// Blurs without bands, for a backdrop that is drawn once.
  private static func blurred(_ planes: FloatPlanes, _ radii: [Int], count: Int) -> FloatPlanes {
    let rows = unsafe sl_rows_current().pointee
    var (source, target) = (
      planes,
      FloatPlanes(
        width: planes.width, height: planes.height, planes: 4, pool: BufferPool(maxIdleBytes: 0))
    )
    for radius in radii {
      for y in 0 ..< planes.height {
        for plane in 0 ..< count {
          let window = unsafe (max(y - radius, 0) ... min(y + radius, planes.height - 1)).map {
            unsafe UnsafePointer(source.row($0, plane: plane))
          }
          unsafe window.withUnsafeBufferPointer {
            unsafe rows.box_mean(
              $0.baseAddress.unsafelyUnwrapped, window.count, planes.width, radius,
              target.row(y, plane: plane))
          }
        }
      }
      swap(&source, &target)
    }
    return source
  }

  /// Computes the light on a frame's person.
  func run(_ context: PassContext, cover: FloatPlanes) async -> EdgeLight {
    func planes(_ count: Int) -> FloatPlanes {
      FloatPlanes(width: cover.width, height: cover.height, planes: count, pool: context.pool)
    }
    // The cover itself is kept.
    let (first, second, light) = (planes(1), planes(1), planes(4))
    for y in 0 ..< cover.height {
      unsafe first.row(y).update(from: cover.row(y), count: cover.width)
    }
    let around = await first.blurred(
      radii: Self.coverRadii, count: 1, with: second, context.bands)
    var columns: [Range<Int>] = []
    columns.reserveCapacity(cover.height)
    for y in 0 ..< cover.height {
      let share = unsafe around.row(y)
      var (start, end) = (cover.width, 0)
      let weights = unsafe light.row(y, plane: 3)
      for x in 0 ..< cover.width {
        let rest = unsafe 1 - share[x]
        // No light outside the person either.
        let isEdge = unsafe rest > Self.minShare && share[x] > Self.minShare
        unsafe weights[x] = isEdge ? 2 * self.amount * rest : 0
        if isEdge { (start, end) = (min(start, x), x + 1) }
      }
      for plane in 0 ..< 3 {
        let (from, out) = unsafe (self.light.row(y, plane: plane), light.row(y, plane: plane))
        for x in 0 ..< cover.width { unsafe out[x] = from[x] * weights[x] }
      }
      for x in 0 ..< cover.width { unsafe weights[x] = 0 }
      columns.append(start < end ? start ..< end : 0 ..< 0)
    }
    return EdgeLight(
      planes: light, columns: columns, factor: self.factor, geometry: self.geometry,
      matrix: self.matrix)
  }
}

/// The light on the edges of one frame's person.
struct EdgeLight: Sendable {
  /// Red, green and blue in levels, and a plane of 0.
  let planes: FloatPlanes
  /// The columns with light, per row.
  let columns: [Range<Int>]
  let factor: Int
  let geometry: FrameGeometry
  let matrix: [Float]
}

/// The rows of a light, owned by one band.
@safe
final class LightRows {
  private let light: EdgeLight
  private let rows: ExpandedRows
  private let means: FloatMemory
  private let width: Int

  init(_ light: EdgeLight) {
    self.light = light
    self.width = light.geometry.size.width
    self.rows = ExpandedRows(light.planes, factor: light.factor, matrix: light.matrix)
    self.means = FloatMemory(count: self.width + 2)
  }

  /// The pixels of a row that have light.
  private func lit(_ pixel: Double) -> Range<Int>? {
    let (cell, next) = self.rows.cells(about: pixel)
    let (one, two) = (self.light.columns[cell], self.light.columns[next])
    guard !one.isEmpty || !two.isEmpty else { return nil }
    let start = min(one.isEmpty ? .max : one.lowerBound, two.isEmpty ? .max : two.lowerBound)
    let end = max(one.upperBound, two.upperBound)
    // Light is interpolated up to the next cell. Even, to start chroma there too.
    return max((start - 1) * self.light.factor & ~1, 0)
      ..< min((end + 1) * self.light.factor, self.width)
  }

  /// Adds light to a row of interleaved pixels, of luma or of grey.
  ///
  /// - Parameter step: Samples from one pixel to the next.
  /// - Returns: Whether the row has light.
  @discardableResult
  func addPixels(
    _ y: Int, to row: UnsafeMutableRawPointer, _ alpha: UnsafePointer<Float>, step: Int,
    isDeep: Bool
  ) -> Bool {
    guard let lit = self.lit(Double(y)) else { return false }
    let kernels = unsafe sl_rows_current().pointee
    let add = unsafe isDeep ? kernels.add_light_i16 : kernels.add_light_u8
    let pair = self.rows.rows(about: Double(y))
    let sample = isDeep ? 2 : 1
    for channel in 0 ..< min(step, 3) {
      let code = unsafe pair.code(channel)
      unsafe add(
        row + (lit.lowerBound * step + channel) * sample, step,
        alpha + lit.lowerBound, code.upper + lit.lowerBound, code.lower + lit.lowerBound,
        pair.fraction, lit.count)
    }
    return true
  }

  /// Adds light to the chroma that two rows share.
  ///
  /// - Parameters:
  ///   - y: The upper row.
  ///   - u: The first sample of Cb.
  ///   - v: The first sample of Cr.
  ///   - alpha: The mean alpha of every sample.
  ///   - shape: The plane of chroma.
  ///   - width: The pixels of a row.
  func addChroma(
    _ y: Int, to u: UnsafeMutableRawPointer, _ v: UnsafeMutableRawPointer,
    _ alpha: UnsafePointer<Float>, _ shape: PlaneShape, _ width: Int, isDeep: Bool
  ) {
    guard let lit = self.lit(Double(y) + 0.5) else { return }
    let kernels = unsafe sl_rows_current().pointee
    let add = unsafe isDeep ? kernels.add_light_i16 : kernels.add_light_u8
    let pair = self.rows.rows(about: Double(y) + 0.5)
    let (start, count) = (lit.lowerBound / 2, (lit.count + 1) / 2)
    let place = start * shape.step * (isDeep ? 2 : 1)
    let (upper, lower) = unsafe (self.means[0], self.means[count])
    for unsafe(code, samples) in unsafe [(1, u), (2, v)] {
      let rows = unsafe pair.code(code)
      unsafe kernels.mean_alpha(
        rows.upper + lit.lowerBound, rows.upper + lit.lowerBound, lit.count, upper)
      unsafe kernels.mean_alpha(
        rows.lower + lit.lowerBound, rows.lower + lit.lowerBound, lit.count, lower)
      unsafe add(
        samples + place, shape.step, alpha + start, upper, lower, pair.fraction, count)
    }
  }
}
