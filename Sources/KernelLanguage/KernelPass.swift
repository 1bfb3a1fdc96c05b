import CKernels
package import SidelightKernels

/// A kernel that reads other pixels of the picture, as an operation of plans.
package struct KernelNeighborhood: NeighborhoodOperation {
  package let program: KernelProgram
  package let images: [PlacedBackdrop]
  let isWarp: Bool

  package var kind: PassDescription.Kind { self.isWarp ? .warp : .neighborhood }

  package var averages: Bool { false }

  package var summary: String {
    let distance = max(self.program.readDistance.rounded(.up), Double(self.program.reach))
    let side = distance < 1e4 ? "\(2 * Int(distance) + 1)" : ""
    return "a kernel over \(side.isEmpty ? "the frame" : "\(side)x\(side) pixels")"
  }

  package func spread(in geometry: FrameGeometry) -> Double? {
    self.program.reach > 0 || self.program.readsPicture ? nil : 0
  }

  package func makePass(_ setting: PassSetting) -> any Pass {
    KernelPass(setting: setting, program: self.program, images: self.images)
  }
}

/// A kernel that reads other pixels: neighbours at constant distances from rows of floats, and
/// computed positions from a picture with interleaved channels.
struct KernelPass: Pass {
  let setting: PassSetting
  let program: KernelProgram
  let images: [PlacedBackdrop]

  var description: PassDescription { self.setting.description }

  func kernelNanoseconds(_ size: FrameSize) -> Double {
    Double(size.pixelCount) * self.program.nanosecondsPerPixel * InstructionSet.kernelSlowness
  }

  func run(_ context: PassContext) async {
    let size = context.output.size
    let picture = self.program.readsPicture ? await self.interleaved(context) : nil
    await context.bands.run(
      rows: size.height, alignment: context.output.format.isYUV ? 2 : 1,
      nanoseconds: Double(size.pixelCount) * 3 + self.kernelNanoseconds(size)
    ) { band in
      self.run(band, context, picture)
    }
  }

  /// Returns the input with interleaved channels: the input itself, or a converted copy.
  private func interleaved(_ context: PassContext) async -> Raster {
    let source = context.inputs[0]
    guard !source.format.hasAlpha else { return source }
    guard let layout = try? FrameLayout(aligned: .rgba8, size: source.size) else {
      preconditionFailure("a frame of every size has four channels")
    }
    let raster = Raster(layout: layout, depth: .deep, pool: context.pool)
    let conversion = YUVConversion(self.setting.geometry.color)
    await context.bands.run(
      rows: source.size.height, nanoseconds: Double(source.size.pixelCount)
    ) { band in
      let rows = unsafe sl_rows_current().pointee
      let from = unsafe StripStore(source.view, conversion, rows)
      let to = unsafe StripStore(raster.view, conversion, rows)
      let memory = StripMemory(strips: 1)
      for y in band {
        Self.forEachStrip(y, memory.strip(0, time: context.time), source.size) { strip in
          from.load(strip)
          to.store(strip, nil)
        }
      }
    }
    return raster
  }

  private static func forEachStrip(
    _ y: Int, _ strip: Strip, _ size: FrameSize, _ body: (Strip) -> Void
  ) {
    var strip = strip
    strip.y = y
    for x in stride(from: 0, to: size.width, by: Strip.capacity) {
      strip.x = x
      strip.count = min(Strip.capacity, size.width - x)
      body(strip)
    }
  }

  private func run(_ band: Range<Int>, _ context: PassContext, _ picture: Raster?) {
    let rows = unsafe sl_rows_current().pointee
    let size = context.output.size
    let conversion = YUVConversion(self.setting.geometry.color)
    let source = unsafe StripStore(context.inputs[0].view, conversion, rows)
    let destination = unsafe StripStore(context.output.view, conversion, rows)
    let reach = self.program.reach
    let ring =
      reach > 0
      ? PixelRing(width: size.width, height: size.height, reach: reach, time: context.time) : nil
    let memory = StripMemory(strips: 2)
    let loads = self.program.readsChannels || self.setting.geometry.format.hasAlpha
    var sources = unsafe KernelProgram.Sources(images: self.images)
    unsafe sources.picture = unsafe picture.map { unsafe $0.view.kernelPicture }
    for y in stride(from: band.lowerBound, to: band.upperBound, by: destination.rowsAtOnce) {
      let height = min(destination.rowsAtOnce, size.height - y)
      if let ring {
        // Both rows of a pair are written together, so the ring has room for one more row.
        for row in y - reach ... y + height - 1 + reach { ring.load(row, from: source) }
      }
      for x in stride(from: 0, to: size.width, by: Strip.capacity) {
        func compute(_ row: Int) -> Strip {
          var strip = memory.strip(row, time: context.time)
          strip.x = x
          strip.y = y + row
          strip.count = min(Strip.capacity, size.width - x)
          if loads { source.load(strip) }
          guard let ring else {
            unsafe self.program.run(strip, sources, rows)
            return strip
          }
          ring.withWindow(y: y + row) { window in
            sources.window = window
            unsafe self.program.run(strip, sources, rows)
          }
          return strip
        }
        let first = compute(0)
        destination.store(first, height > 1 ? compute(1) : nil)
      }
    }
  }
}
