import SidelightWire
import Testing

@Suite struct AddressTests {
  @Test(
    arguments: [
      ("127.0.0.1:50051", Address.tcp(host: "127.0.0.1", port: 50051)),
      ("[::1]:0", .tcp(host: "::1", port: 0)),
      ("call-server.local:65535", .tcp(host: "call-server.local", port: 65535)),
      ("unix:/run/sidelight.sock", .unix(path: "/run/sidelight.sock")),
      ("unix:relative.sock", .unix(path: "relative.sock")),
    ])
  func `addresses are read, and written as they are read`(text: String, address: Address) throws {
    #expect(try Address(text) == address)
    #expect(address.description == text)
  }

  @Test func `unix:/// is the form of other gRPC libraries, and means an absolute path`() throws {
    #expect(try Address("unix:///run/a.sock") == .unix(path: "/run/a.sock"))
  }

  @Test(
    arguments: [
      ("", "HOST:PORT"), ("localhost", "HOST:PORT"), ("localhost:", "port"),
      ("localhost:65536", "65535"), ("localhost:-1", "port"), (":80", "host"),
      ("::1:80", "brackets"), ("unix:", "path"),
      ("unix:/" + String(repeating: "x", count: 107), "107"),
    ])
  func `an invalid address is refused with the reason`(text: String, hint: String) {
    let error = #expect(throws: AddressError.self) { try Address(text) }
    #expect(error?.description.contains(hint) == true, "\(error?.description ?? "")")
  }
}
