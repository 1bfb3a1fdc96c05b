import SidelightServer

/// A function of the whole frame: it reads a frame and writes every sample of another one, plane by
/// plane, in any format. This one reverses the order of the rows.
@Sendable func upsideDown(_ input: Frame, _ output: inout MutableFrame, _: FrameTime) {
  for plane in 0 ..< input.format.planeCount {
    let last = input.format.rowCount(plane: plane, height: input.size.height) - 1
    for row in 0 ... last {
      input.withRow(last - row, plane: plane) { from in
        output.withMutableRow(row, plane: plane) { to in
          to.withUnsafeMutableBytes { to in from.withUnsafeBytes { to.copyMemory(from: $0) } }
        }
      }
    }
  }
}
