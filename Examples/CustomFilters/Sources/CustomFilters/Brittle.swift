import SidelightServer

/// A function of the whole frame with an error: it expects at least seventeen rows. A smaller frame
/// traps, which ends the process and all its sessions; with workers, only the sessions of one
/// worker.
@Sendable func brittle(_ input: Frame, _ output: inout MutableFrame, _ time: FrameTime) {
  let rows = Array(0 ..< input.size.height)
  precondition(rows[16] == 16)
  upsideDown(input, &output, time)
}
