import SidelightKernels

/// The drawing of a background filter on one frame.
package enum BackgroundDrawing: Sendable {
  /// The person's share of the reduced picture's pixels, upright.
  case matte(MatteEstimate)
  /// The matte is missing or uncertain.
  case unsure
}

/// The replacement or the blur of the background behind people.
struct BackgroundOperation: SceneOperation, StagedRequest {
  enum Background: Sendable {
    /// An image on a colour.
    case picture(PlacedImage?, RGBAColor, spill: KeySpill, lightWrap: Double)
    /// The frame's own background, blurred.
    case blur(sigma: Double)
  }

  let choice: MatteChoice
  let edges: MatteEdges
  let background: Background

  var summary: String {
    switch self.background {
    case .picture: "background replaced, matte by \(self.choice.summary), edges guided"
    case .blur(let sigma):
      "background blurred by \(sigma), matte by \(self.choice.summary), edges guided"
    }
  }

  var faces: FaceRequest? { self.choice.faceRequest }
  var stepName: String? { "matte" }
  var stepSummary: String { "matte by \(self.choice.summary) in at most 320x180 pixels" }

  /// A blur of the default sigma or more is too coarse to show a face beyond its pixels.
  func spread(in geometry: FrameGeometry) -> Double? {
    let guided = GuidedFilter().spread(in: geometry)
    guard case .blur(let sigma) = self.background, sigma < Double(geometry.size.height) / 60 else {
      return guided
    }
    // Three boxes reach 3 sigma, and the interpolated cells are smaller than sigma or than the
    // small picture's cells.
    return guided + 4 * sigma + Double(2 * FrameReduction(geometry).factor)
  }

  func makeStage() -> any SceneStage {
    if case .portrait = self.choice.kind { return PortraitStage(self.choice) }
    return MatteStage(self.choice)
  }

  func makePass(_ setting: PassSetting, index: Int) -> any Pass {
    BackgroundPass(setting, self, index: index)
  }
}

/// Refines the matte of a frame by using the frame's edges, and blends it with the background.
struct BackgroundPass: Pass {
  /// The picture behind, as far as it does not depend on the frame.
  private enum Background: Sendable {
    case picture(MatteBackdrop, Backlight?)
    case blur(BackgroundSoftening)
  }

  let description: PassDescription
  private let index: Int
  private let protects: Bool
  /// Whether frames without a sure matte are blurred unless they are hidden. A portrait's are
  /// unchanged: the matte has then lost the face.
  private let blursUnsure: Bool
  /// Whether earlier steps may have moved the background in front of the person.
  private let isMoved: Bool
  private let edges: MatteEdges
  private let geometry: FrameGeometry
  private let reduction: FrameReduction
  private let blend: MatteBlend
  private let background: Background
  /// The blur of the whole frame, and its blend.
  private let whole: (softening: BackgroundSoftening, blend: MatteBlend)
  private let guided = GuidedFilter()

  init(_ setting: PassSetting, _ operation: BackgroundOperation, index: Int) {
    self.description = setting.description
    self.index = index
    self.protects = operation.choice.protects
    self.blursUnsure = if case .portrait = operation.choice.kind { false } else { true }
    self.isMoved = setting.spread == nil
    self.edges = operation.edges
    let geometry = setting.geometry
    let reduction = FrameReduction(geometry)
    self.geometry = geometry
    self.reduction = reduction
    let minSigma = Double(geometry.size.height) / 18
    let blurring = MatteBlend(
      setting, reduction, KeySpill(), edges: operation.edges, mixesAlpha: true,
      protects: operation.choice.protects)
    switch operation.background {
    case .picture(let image, let color, let spill, let lightWrap):
      self.whole = (BackgroundSoftening(geometry, reduction, sigma: minSigma), blurring)
      self.blend = MatteBlend(
        setting, reduction, spill, edges: operation.edges, protects: operation.choice.protects)
      self.background = .picture(
        MatteBackdrop(image: image, color: color, geometry: geometry),
        Backlight(geometry, reduction, amount: lightWrap) { x, y in
          MatteBackdrop.pixel(image, color, x: x, y: y)
        })
    case .blur(let sigma):
      self.whole = (
        BackgroundSoftening(geometry, reduction, sigma: max(sigma, minSigma)), blurring
      )
      self.blend = blurring
      self.background = .blur(BackgroundSoftening(geometry, reduction, sigma: sigma))
    }
  }

  /// The whole frame is reduced before a row of it is written, and the blend reads and writes the
  /// same rows.
  var worksInPlace: Bool { true }

  func run(_ context: PassContext) async {
    let drawing = context.scene?.drawing(of: self.index, as: BackgroundDrawing.self)
    if case .matte(let matte) = drawing, let scene = context.scene, !(self.protects && self.isMoved)
    {
      await self.draw(matte, scene.frameMap, context)
    } else if self.protects {
      await self.hide(context)
    } else if self.blursUnsure, case .unsure? = drawing {
      await self.blurWhole(context)
    } else if context.output.relation(to: context.inputs[0]) != .same {
      for shape in PlaneShape.planes(context.output.format, context.output.size) {
        await PlaneCopy(shape: shape).run(context)
      }
    }
  }

  private func draw(_ matte: MatteEstimate, _ frameMap: AffineMap, _ context: PassContext) async {
    let size = self.reduction.size
    let factor = Double(self.reduction.factor)
    let scale = AffineMap(a: factor, b: 0, c: 0, d: factor, tx: 0, ty: 0)
    let map = frameMap.inverse.map { scale.followed(by: $0) } ?? .identity
    let guide = GuidePlanes.guide(size, pool: context.pool)
    var alpha: FloatPlanes?
    if case .blur = self.background { alpha = self.alphaPlane(context) }
    let source = context.inputs[0].view
    let (reduction, guided, edges) = (self.reduction, self.guided, self.edges)
    await context.bands.run(
      rows: size.height, nanoseconds: Double(source.size.pixelCount) * 0.4
    ) { [alpha] band in
      reduction.run(band, from: source, to: guide, alpha: alpha)
      guide.load(band, of: matte, by: map)
    }
    let models = FloatPlanes(width: size.width, height: size.height, planes: 4, pool: context.pool)
    let cover = FloatPlanes(width: size.width, height: size.height, planes: 1, pool: context.pool)
    await context.bands.run(
      rows: size.height, alignment: 16, nanoseconds: Double(size.pixelCount) * 15
    ) { band in
      guided.run(band, guide, to: models)
      MatteCover.run(band, guide, models, edges, to: cover)
    }
    switch self.background {
    case .picture(let backdrop, let backlight):
      await self.blend.run(
        context, models, over: backdrop, light: await backlight?.run(context, cover: cover))
    case .blur(let softening):
      await self.blend.run(
        context, models,
        over: await softening.run(context, guide, alpha: alpha, cover: cover))
    }
  }

  /// Covers the whole frame.
  private func hide(_ context: PassContext) async {
    switch self.background {
    case .picture(let backdrop, _):
      await self.blend.run(context, self.emptyModels(context), over: backdrop)
    case .blur: await self.blurWhole(context)
    }
  }

  /// Blurs the whole frame.
  private func blurWhole(_ context: PassContext) async {
    let size = self.reduction.size
    let guide = GuidePlanes.guide(size, pool: context.pool)
    let alpha = self.alphaPlane(context)
    let source = context.inputs[0].view
    let reduction = self.reduction
    await context.bands.run(
      rows: size.height, nanoseconds: Double(source.size.pixelCount) * 0.4
    ) { band in
      reduction.run(band, from: source, to: guide, alpha: alpha)
    }
    await self.whole.blend.run(
      context, self.emptyModels(context),
      over: await self.whole.softening.run(context, guide, alpha: alpha, cover: nil))
  }

  /// The models of a matte of 0.
  private func emptyModels(_ context: PassContext) -> FloatPlanes {
    let size = self.reduction.size
    let models = FloatPlanes(width: size.width, height: size.height, planes: 4, pool: context.pool)
    for y in 0 ..< size.height {
      for plane in 0 ..< 4 {
        unsafe models.row(y, plane: plane).update(repeating: 0, count: size.width)
      }
    }
    return models
  }

  /// A plane for the reduced alpha of a frame that is blurred; `nil` if the frame is opaque.
  private func alphaPlane(_ context: PassContext) -> FloatPlanes? {
    guard !self.geometry.isOpaque else { return nil }
    let size = self.reduction.size
    return FloatPlanes(width: size.width, height: size.height, planes: 1, pool: context.pool)
  }
}

/// The part of a small picture's pixels that the person covers, 0 ... 1: at least the matte's and
/// the guided alpha.
enum MatteCover {
  /// Computes rows.
  ///
  /// - Parameters:
  ///   - band: The rows.
  ///   - guide: The picture and its matte.
  ///   - models: The guided filter's models.
  ///   - edges: The values of the guided matte at the edge.
  ///   - cover: Receives the rows.
  static func run(
    _ band: Range<Int>, _ guide: GuidePlanes, _ models: FloatPlanes, _ edges: MatteEdges,
    to cover: FloatPlanes
  ) {
    let low = Float(edges.low)
    let slope = Float(1 / (edges.high - edges.low))
    for y in band {
      let (red, green, blue) = unsafe (
        guide.row(y, plane: 0), guide.row(y, plane: 1), guide.row(y, plane: 2)
      )
      let matte = unsafe guide.row(y, plane: GuidePlanes.mattePlane)
      let (r, g, b) = unsafe (
        models.row(y, plane: 0), models.row(y, plane: 1), models.row(y, plane: 2)
      )
      let (bias, out) = unsafe (models.row(y, plane: 3), cover.row(y))
      for x in 0 ..< guide.width {
        let sum = unsafe r[x] * red[x] + g[x] * green[x] + b[x] * blue[x] + bias[x]
        let t = min(max((sum * (1 / 255) - low) * slope, 0), 1)
        unsafe out[x] = max(t * t * (3 - 2 * t), matte[x] * (1 / 255))
      }
    }
  }
}
