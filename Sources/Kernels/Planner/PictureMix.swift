import CKernels

/// The mix of two pictures at one moment of a transition.
///
/// With the progress p a sample becomes (1 - w) e + w l of the earlier sample e and the later one
/// l. The weight w is rounded to 1/256, and the result to a level. p = 0 gives the earlier picture
/// and p = 1 the later one, byte for byte.
///
/// - Fade: w = p.
/// - Wipe: w = clamp((p (1 + s) - u) / s, 0, 1), u the position of the sample's centre along the
///   direction, 0 ... 1, and s the softness; w = 1 for u < p if s is 0.
/// - Dissolve: the same, u a hash of the seed and the cell of 2x2 pixels. A chroma sample that 2x2
///   pixels share belongs to their cell.
///
/// Samples of pictures with straight alpha are weighted by alpha; all others are mixed directly.
public struct PictureMix: Sendable, Hashable {
  /// The look of the transition.
  public var style: PipelineTransition.Style
  /// The share of the later picture, 0 ... 1.
  public var progress: Double

  /// Creates a mix.
  public init(style: PipelineTransition.Style, progress: Double) {
    self.style = style
    self.progress = progress
  }

  /// The weight of all samples if it is the same; `nil` if it depends on the position.
  fileprivate var evenWeight: UInt16? {
    if self.progress <= 0 { return 0 }
    if self.progress >= 1 { return 256 }
    guard case .fade = self.style else { return nil }
    return UInt16((self.progress * 256).rounded())
  }

  /// The weights by position.
  fileprivate var edge: sl_soft_edge {
    let softness: Double =
      switch self.style {
      case .fade: 1
      case .wipe(_, let softness), .dissolve(let softness, _): min(max(softness, 0), 1)
      }
    let width = max(1, Int32((softness * 65536).rounded()))
    let position = Int32((min(max(self.progress, 0), 1) * Double(65536 + width)).rounded())
    return sl_soft_edge(position: position, width: width, slope: ((1 << 24) + width / 2) / width)
  }
}

extension sl_soft_edge {
  /// Returns the weight of a sample.
  ///
  /// - Parameters:
  ///   - index: The sample's number along the direction.
  ///   - count: The number of samples along the direction.
  fileprivate func weight(of index: Int, in count: Int) -> UInt16 {
    let place = Int32((2 * index + 1) * 32768 / count)
    let excess = min(max(self.position - place, 0), self.width)
    return UInt16((Int(excess) * Int(self.slope) + 32768) >> 16)
  }
}

extension PlanExecutor {
  /// Mixes a picture into another, in place.
  ///
  /// - Parameters:
  ///   - earlier: The picture that the transition leads from.
  ///   - later: The picture that it leads to, which becomes the mix.
  ///   - mix: The moment of the transition.
  ///   - bands: The maximum number of threads; `nil` divides the threads among the frames in
  ///     flight.
  ///   - observer: Encloses the pass `transition`.
  ///   - meter: Receives the time of the bands.
  /// - Returns: The mix, with the later picture's description.
  /// - Throws: `CancellationError`, or an error of the observer.
  /// - Precondition: The pictures have the same format and size, and don't share memory.
  @concurrent
  @discardableResult
  public func mix(
    _ earlier: Frame, into later: consuming MutableFrame, by mix: PictureMix, bands: Int? = nil,
    observer: some PassObserver = NoPassObserver(), meter: WorkMeter? = nil
  ) async throws -> Frame {
    precondition(
      earlier.format == later.layout.format && earlier.size == later.layout.size,
      "pictures of a mix have one format and size")
    let (source, target) = (Raster(earlier), Raster(later))
    let (color, orientation) = (later.color, later.orientation)
    let alpha = FrameGeometry(format: earlier.format, size: earlier.size, color: color).alpha
    let pass = PictureMixPass(mix: mix, isStraight: alpha == .straight)
    try await self.run(pass, from: source, to: target, bands, observer, meter)
    return target.frame(color: color, orientation: orientation)
  }
}

/// A pass that mixes its input into its output.
struct PictureMixPass: Pass {
  let mix: PictureMix
  /// Whether the fourth sample of a pixel is straight alpha.
  let isStraight: Bool

  var description: PassDescription {
    PassDescription(
      name: "transition", filters: [], kind: .composite, summary: "the mix of two results")
  }

  func run(_ context: PassContext) async throws {
    let source = context.inputs[0].view
    let destination = context.output.view
    for shape in PlaneShape.planes(source.format, source.size) {
      let mixer = PlaneMixer(
        mix: self.mix, isStraight: self.isStraight, shape: shape,
        isSubsampled: shape.scale < 1)
      await context.bands.run(
        rows: shape.height, alignment: 2,
        nanoseconds: Double(shape.samples * shape.height) * 0.25
      ) { band in
        mixer.run(band, source, destination)
      }
    }
  }
}

/// The mix of a plane.
private struct PlaneMixer: Sendable {
  let mix: PictureMix
  let isStraight: Bool
  let shape: PlaneShape
  /// Whether a pixel of the plane is shared by 2x2 pixels of the picture.
  let isSubsampled: Bool

  func run(_ band: Range<Int>, _ source: RasterView, _ destination: RasterView) {
    let rows = unsafe sl_rows_current().pointee
    let count = self.shape.samples
    var weights = [UInt16](repeating: 0, count: count)
    var filled: UInt16?
    var row: Int?
    for y in band {
      let from = unsafe UnsafePointer(
        source.row(y, plane: self.shape.plane).assumingMemoryBound(to: UInt8.self))
      let out = unsafe destination.row(y, plane: self.shape.plane)
        .assumingMemoryBound(to: UInt8.self)
      if let weight = self.evenWeight(of: y) {
        if weight == 256 { continue }
        if weight == 0 || !self.isStraight {
          unsafe Self.mixEvenly(from, weight, count, out, rows)
          continue
        }
        if filled != weight {
          for index in weights.indices { weights[index] = weight }
          filled = weight
        }
      } else if row != self.weightRow(of: y) {
        row = self.weightRow(of: y)
        unsafe self.fill(&weights, y, rows)
      }
      unsafe weights.withUnsafeBufferPointer { buffer in
        let start = unsafe buffer.baseAddress.unsafelyUnwrapped
        if self.isStraight {
          unsafe rows.mix_straight_u8(from, start, self.shape.width, out)
        } else {
          unsafe rows.mix_weighted_u8(from, start, count, out)
        }
      }
    }
  }

  private static func mixEvenly(
    _ from: UnsafePointer<UInt8>, _ weight: UInt16, _ count: Int,
    _ out: UnsafeMutablePointer<UInt8>, _ rows: sl_rows
  ) {
    if weight == 0 {
      unsafe out.update(from: from, count: count)
    } else {
      unsafe rows.mix_evenly_u8(from, weight, count, out)
    }
  }

  /// Returns the weight of all samples of a row; `nil` if they differ.
  private func evenWeight(of y: Int) -> UInt16? {
    if let weight = self.mix.evenWeight { return weight }
    switch self.mix.style {
    case .wipe(.down, _): return self.mix.edge.weight(of: y, in: self.shape.height)
    case .wipe(.up, _):
      return self.mix.edge.weight(of: self.shape.height - 1 - y, in: self.shape.height)
    case .fade, .wipe, .dissolve: return nil
    }
  }

  /// Returns a number that rows with the same weights have in common.
  private func weightRow(of y: Int) -> Int {
    guard case .dissolve = self.mix.style else { return 0 }
    return self.isSubsampled ? y : y / 2
  }

  private func fill(_ weights: inout [UInt16], _ y: Int, _ rows: sl_rows) {
    var edge = self.mix.edge
    switch self.mix.style {
    case .fade, .wipe(.down, _), .wipe(.up, _): break  // even, handled above
    case .wipe(let direction, _):
      for x in 0 ..< self.shape.width {
        let place = direction == .left ? self.shape.width - 1 - x : x
        let weight = edge.weight(of: place, in: self.shape.width)
        for index in x * self.shape.step ..< (x + 1) * self.shape.step { weights[index] = weight }
      }
    case .dissolve(_, let seed):
      let row = Self.hash(UInt32(truncatingIfNeeded: self.weightRow(of: y)), seed)
      let repetition = self.shape.step * (self.isSubsampled ? 1 : 2)
      unsafe weights.withUnsafeMutableBufferPointer { buffer in
        unsafe rows.dissolve_weights(
          row, &edge, repetition, buffer.count, buffer.baseAddress.unsafelyUnwrapped)
      }
    }
  }

  /// Returns a number for a row of cells; the hashes of its cells add to it.
  private static func hash(_ row: UInt32, _ seed: UInt32) -> UInt32 {
    var bits = row &* 0x85EB_CA6B ^ seed &* 0xC2B2_AE35
    bits = (bits ^ bits >> 16) &* 0x7FEB_352D
    return bits ^ bits >> 15
  }
}
