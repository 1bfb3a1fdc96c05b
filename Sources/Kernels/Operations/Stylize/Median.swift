import CKernels

/// A median filter, which removes specks.
struct Median: CatalogueFilter {
  static let description = FilterDescription(
    name: "median",
    summary: "Removes specks by the median of neighbouring pixels; edges stay sharp.",
    category: .stylize, reach: .neighborhood, fidelity: .modelled,
    keywords: "denoise clean noise",
    formula: """
      The median of 3x3 samples for each channel, on every plane at its own size; colour is \
      premultiplied. Edges are clamped
      """)

  init(_ arguments: Arguments) {}

  func nodes(for geometry: FrameGeometry) -> [FilterNode] {
    [FilterNode(.neighborhood(MedianOperation()))]
  }
}

/// The median of 3x3 samples per channel.
package struct MedianOperation: NeighborhoodOperation {
  package var summary: String { "the median of 3x3" }

  package func spread(in geometry: FrameGeometry) -> Double? { 1 + ContentSpread.rounding }

  package func makePass(_ setting: PassSetting) -> any Pass {
    MedianPass(setting: setting)
  }
}

/// Medians of 3x3 samples of every plane.
package struct MedianPass: OperationPass {
  package let setting: PassSetting

  package func run(_ context: PassContext) async {
    let source = context.inputs[0].view
    for shape in PlaneShape.planes(source.format, source.size) {
      let writer = DirectRowWriter(context, shape, keepsAlpha: self.setting.keepsFourthChannel)
      await context.bands.run(
        rows: shape.height, nanoseconds: Double(shape.samples * shape.height) * 0.07
      ) { band in
        let rows = unsafe sl_rows_current().pointee
        let median = unsafe source.depth == .eight ? rows.median_u8 : rows.median_i16
        let memory = SampleMemory(count: shape.samples)
        func row(_ y: Int) -> UnsafeMutableRawPointer {
          unsafe source.row(clamped: y, of: shape)
        }
        for y in band {
          unsafe writer.write(y: y, scratch: memory[0], rows) { output in
            unsafe median(row(y - 1), row(y), row(y + 1), shape.step, shape.width, output)
          }
        }
      }
    }
  }
}
