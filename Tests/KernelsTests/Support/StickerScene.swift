import SidelightKernels
import SidelightScene

/// Frames with faces at known places, on which a pipeline of one `overlay` stage draws.
struct StickerScene {
  typealias Parameters = [String: ParameterValue]

  /// The images by name.
  let assets: AssetStore
  let bench: TestBench
  private let executor: PlanExecutor

  init(_ images: [String: ImageAsset], bands: BandRunner? = nil) {
    let store = AssetStore()
    for (name, image) in images { store.put(.image(image), named: name) }
    self.assets = store
    var bench = TestBench()
    bench.catalogue.assets = store
    Overlay.register(in: &bench.catalogue, tools: Self.tools)
    self.bench = bench
    self.executor =
      bands.map { PlanExecutor(pool: bench.pool, compute: bench.compute, fixedBands: $0) }
      ?? bench.executor
  }

  /// Tools that never find faces or points, because the tests place them.
  static let tools = FaceTools {
    NoFaces()
  } points: {
    NoPoints()
  }

  private struct NoFaces: FaceFinder {
    func faces(in picture: LumaPicture) -> [DetectedFace] { [] }
  }

  private struct NoPoints: PointTracker {
    func points(of box: FaceBox, in picture: LumaPicture) -> [PicturePoint] { [] }
    func follow(
      _ points: [PicturePoint], from first: LumaPicture, to second: LumaPicture
    ) -> [PicturePoint?] { points.map { _ in nil } }
  }

  /// The plan of one stage.
  func plan(_ parameters: Parameters, for geometry: FrameGeometry) throws -> Plan {
    let parameters = ["asset": .text("sticker"), "anchor": .text("face")]
      .merging(parameters) { _, given in given }
    return try self.bench.catalogue.resolve([.filter("overlay", parameters)]).plan(for: geometry)
  }

  /// A stage of the plan, as a session has it.
  func stage(_ plan: Plan) throws -> any SceneStage {
    guard let planned = plan.sceneStages.first else { throw Missing.sceneStage }
    return planned.makeStage()
  }

  enum Missing: Error { case sceneStage }

  /// The drawing of a stage on a frame.
  static func scene(
    _ stage: inout any SceneStage, _ faces: [TrackedFace], on frame: Frame,
    at time: Duration = .zero
  ) async throws -> FrameScene {
    let picture = UprightPicture(reducing: frame)
    let moment = SceneTime(index: 0, time: time)
    var report = FaceReport(frame: moment)
    report.faces = faces
    let drawing = try await stage.step(
      SceneView(of: frame, time: moment, picture: picture, faces: report))
    return FrameScene(frameMap: picture.frameMap, drawings: [drawing])
  }

  /// Draws at once, without a fade.
  func draw(
    _ parameters: Parameters, _ faces: [TrackedFace], on frame: Frame
  ) async throws -> Frame {
    let parameters = ["fade": .number(0)].merging(parameters) { _, given in given }
    let plan = try self.plan(parameters, for: frame.geometry)
    var stage = try self.stage(plan)
    return try await self.run(plan, try await Self.scene(&stage, faces, on: frame), on: frame)
  }

  func draw(_ faces: [TrackedFace], on frame: Frame) async throws -> Frame {
    try await self.draw([:], faces, on: frame)
  }

  func run(_ plan: Plan, _ scene: FrameScene?, on frame: Frame) async throws -> Frame {
    try await self.executor.run(plan, on: frame, scene: scene)
  }

  func run(
    _ plan: Plan, _ scene: FrameScene?, on frame: Frame, into destination: consuming MutableFrame
  ) async throws -> Frame {
    try await self.executor.run(plan, on: frame, into: destination, scene: scene)
  }

  static func face(_ id: Int, _ x: Double, _ y: Double, _ size: Double, roll: Double = 0)
    -> TrackedFace
  {
    let box = FaceBox(center: PicturePoint(x: x, y: y), size: size, roll: roll)
    let start = SceneTime(index: 0, time: .zero)
    return TrackedFace(
      id: FaceID(id), track: id, box: box, rawBox: box, confidence: 1, isConfirmed: true,
      isFollowed: true,
      firstDetection: start, locatedSince: start, lastDetection: start, age: 0, missedLooks: 0,
      displacement: PicturePoint(x: 0, y: 0), speed: 0)
  }

  /// An image from a function of the pixel, which returns straight red, green, blue and alpha.
  static func image(
    _ width: Int, _ height: Int, _ pixel: (_ x: Int, _ y: Int) -> [UInt8]
  ) throws -> ImageAsset {
    let geometry = FrameGeometry(
      format: .rgba8, size: FrameSize(width: width, height: height),
      color: ColorDescription(alpha: .straight))
    return try ImageAsset(
      try TestFrame.make(geometry, padding: .aligned) { _, x, y, channel in pixel(x, y)[channel] })
  }
}

extension Frame {
  /// The same samples in another orientation.
  func oriented(_ orientation: Orientation) -> Frame {
    Frame(
      layout: self.layout, color: self.color, orientation: orientation, buffer: self.buffer)
  }
}

/// The definition of a sticker on a frame, in double precision: the image as it is, bilinear,
/// transparent around it.
struct StickerOracle {
  /// Straight colours of the image, 0 to 255.
  let image: [[Double]]
  let width: Int
  let height: Int
  /// The map from the frame's pixels to the image's pixels.
  let map: AffineMap
  let opacity: Double

  /// Luma and chroma of colours from 0 to 1, by ITU-R BT.601 and BT.709.
  private struct Coding {
    private let kr, kb, offset, lumaRange, chromaRange: Double

    init(_ color: ColorDescription) {
      (self.kr, self.kb) = color.matrix == .bt601 ? (0.299, 0.114) : (0.2126, 0.0722)
      (self.offset, self.lumaRange, self.chromaRange) =
        color.range == .video ? (16, 219, 224) : (0, 255, 255)
    }

    private func unit(_ color: SIMD4<Double>) -> Double {
      self.kr * color.x + (1 - self.kr - self.kb) * color.y + self.kb * color.z
    }

    func luma(_ color: SIMD4<Double>) -> Double {
      self.offset + self.lumaRange * self.unit(color)
    }

    /// Cb, then Cr.
    func chroma(_ color: SIMD4<Double>) -> [Double] {
      [(color.z, self.kb), (color.x, self.kr)].map { primary, weight in
        128 + self.chromaRange * (primary - self.unit(color)) / (2 * (1 - weight))
      }
    }
  }

  /// The premultiplied colour at a pixel of the frame, 0 to 1.
  func pixel(_ x: Int, _ y: Int) -> SIMD4<Double> {
    let (u, v) = self.map(Double(x) + 0.5, Double(y) + 0.5)
    let (left, top) = ((u - 0.5).rounded(.down), (v - 0.5).rounded(.down))
    var sum = SIMD4<Double>.zero
    for (column, row) in [(left, top), (left + 1, top), (left, top + 1), (left + 1, top + 1)] {
      let weight = (1 - abs(u - 0.5 - column)) * (1 - abs(v - 0.5 - row))
      guard (0 ..< Double(self.width)).contains(column), (0 ..< Double(self.height)).contains(row)
      else { continue }
      let color = self.image[Int(row) * self.width + Int(column)]
      let alpha = color[3] / 255
      sum +=
        weight
        * SIMD4(color[0] / 255 * alpha, color[1] / 255 * alpha, color[2] / 255 * alpha, alpha)
    }
    return sum * self.opacity
  }

  /// The samples of a frame under the image, by plane, rounded.
  func apply(to frame: Frame) -> [[UInt8]] {
    let before = frame.samples
    let coding = Coding(frame.color)
    return PlaneShape.planes(frame.format, frame.size).map { shape in
      before[shape.plane].indices.map { index in
        let (x, y) = (index % shape.samples / shape.step, index / shape.samples)
        let sample = Double(before[shape.plane][index])
        let pixel = before[shape.plane][(index - index % shape.step)...].prefix(shape.step)
        let value =
          frame.format.isYUV
          ? self.component(frame, coding, shape, x, y, index % shape.step, sample)
          : self.interleaved(frame, x, y, index % shape.step, pixel.map(Double.init))
        return UInt8(max(0, min(255, value.rounded())))
      }
    }
  }

  private func component(
    _ frame: Frame, _ coding: Coding, _ shape: PlaneShape, _ x: Int, _ y: Int, _ channel: Int,
    _ sample: Double
  ) -> Double {
    var overs: [SIMD4<Double>] = []
    let scale = shape.plane == 0 ? 1 : 2
    for row in scale * y ..< min(scale * y + scale, frame.size.height) {
      for column in scale * x ..< min(scale * x + scale, frame.size.width) {
        overs.append(self.pixel(column, row))
      }
    }
    let over = overs.reduce(.zero, +) / Double(overs.count)
    func value(_ color: SIMD4<Double>) -> Double {
      if shape.plane == 0 { return coding.luma(color) }
      return coding.chroma(color)[shape.step == 2 ? channel : shape.plane - 1]
    }
    // The component of premultiplied colour: black has its alpha too.
    let black = value(.zero)
    return sample * (1 - over.w) + (value(over) - black) + black * over.w
  }

  private func interleaved(
    _ frame: Frame, _ x: Int, _ y: Int, _ channel: Int, _ pixel: [Double]
  ) -> Double {
    let over = self.pixel(x, y)
    guard over.w > 0 else { return pixel[channel] }
    if frame.format == .gray8 {
      return pixel[0] * (1 - over.w)
        + 255 * (0.2126 * over.x + 0.7152 * over.y + 0.0722 * over.z)
    }
    let order = frame.format == .bgra8 ? [2, 1, 0, 3] : [0, 1, 2, 3]
    let value = 255 * over[order[channel]]
    switch frame.format.hasAlpha ? frame.color.alpha : .opaque {
    case .opaque: return channel == 3 ? pixel[3] : pixel[channel] * (1 - over.w) + value
    case .premultiplied: return pixel[channel] * (1 - over.w) + value
    case .straight:
      let alpha = pixel[3] / 255 * (1 - over.w) + over.w
      guard channel < 3 else { return 255 * alpha }
      return alpha > 0
        ? (pixel[channel] * pixel[3] / 255 * (1 - over.w) + value) / alpha : pixel[channel]
    }
  }
}
