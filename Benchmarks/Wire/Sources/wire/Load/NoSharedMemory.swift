/// A session was to use shared memory, and has none.
struct NoSharedMemory: Error, CustomStringConvertible {
  var description: String { "The session has no shared memory." }
}
