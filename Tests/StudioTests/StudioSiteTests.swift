import Foundation
import SidelightServer
import SidelightStudio
import SidelightTransport
import SidelightWire
import Testing

/// A studio's page and its access rules, without a network.
@Suite struct StudioSiteTests {
  static let authority = "127.0.0.1:8080"

  /// A studio, and a browser that may have opened its page.
  struct Visitor {
    let studio: Studio
    var cookie: String?
    var authority = StudioSiteTests.authority

    /// - Parameters:
    ///   - acceptsBearerTokens: Whether the server authenticates callers using tokens.
    ///   - folder: A folder with the files of the page; `nil` uses those in the binary.
    ///   - opensPage: Whether the browser has exchanged the token for a cookie.
    init(
      acceptsBearerTokens: Bool = false, hosts: [String] = [], folder: String? = nil,
      opensPage: Bool = true
    ) throws {
      var configuration = Studio.Configuration(address: .tcp(host: "127.0.0.1", port: 8080))
      configuration.hosts = hosts
      configuration.folder = folder
      self.studio = Studio(configuration, acceptsBearerTokens: acceptsBearerTokens) { _ in }
      if opensPage {
        let response = self.get("/?token=\(self.studio.token)")
        self.cookie = try #require(response.header("set-cookie")).split(separator: ";").first
          .map(String.init)
      }
    }

    func request(
      _ target: String, method: String = "GET", _ headers: [(name: String, value: String)] = []
    ) -> WebRequest {
      let cookie = self.cookie.map { [(name: "Cookie", value: $0)] } ?? []
      return WebRequest(
        method: method, target: target,
        headers: [(name: "Host", value: self.authority)] + cookie + headers)
    }

    func get(_ target: String, method: String = "GET") -> WebResponse {
      self.studio.endpoint.site.response(to: self.request(target, method: method))
    }

    /// Returns the authorization of an accepted WebSocket, or the status of a refusal.
    func open(_ headers: [(name: String, value: String)]) -> Admission {
      let path = "/sidelight.v1.FrameFilter/Process"
      return switch self.studio.endpoint.site.admission(of: self.request(path, headers)) {
      case .accepted(let authorization): .accepted(authorization)
      case .refused(let response): .refused(response.status)
      }
    }
  }

  enum Admission: Hashable {
    case accepted([String])
    case refused(Int)
  }

  static let origin = (name: "Origin", value: "http://\(Self.authority)")

  // MARK: Tokens

  @Test func `a token opens the page once, and another one replaces it`() throws {
    var visitor = try Visitor(opensPage: false)
    let first = visitor.studio.token
    let response = visitor.get("/?token=\(first)")
    #expect(response.status == 303)
    #expect(response.header("location") == "/")
    let cookie = try #require(response.header("set-cookie"))
    #expect(cookie.hasPrefix("sidelight-studio-8080="))
    for attribute in ["HttpOnly", "SameSite=Strict", "Path=/"] {
      #expect(cookie.contains("; \(attribute)"))
    }
    #expect(!cookie.contains(first))
    #expect(visitor.get("/?token=\(first)").status == 401)
    #expect(visitor.studio.token != first)
    visitor.cookie = cookie.split(separator: ";").first.map(String.init)
    #expect(visitor.get("/?token=\(first)").status == 303, "the page is open in this browser")
    #expect(visitor.get("/info.json").status == 200)
  }

  @Test(arguments: ["", "0", String(repeating: "0", count: 32)])
  func `another token opens nothing`(_ token: String) throws {
    let visitor = try Visitor(opensPage: false)
    let response = visitor.get("/?token=\(token)")
    #expect(response.status == 401)
    #expect(response.header("set-cookie") == nil)
  }

  @Test func `HEAD does not use up a token`() throws {
    let visitor = try Visitor(opensPage: false)
    let token = visitor.studio.token
    let response = visitor.get("/?token=\(token)", method: "HEAD")
    #expect(response.status == 401)
    #expect(response.header("set-cookie") == nil)
    #expect(visitor.studio.token == token)
    #expect(visitor.get("/?token=\(token)").status == 303)
  }

  @Test func `tokens are 128 random bits`() throws {
    let tokens = try (0 ..< 50).map { _ in try Visitor(opensPage: false).studio.token }
    #expect(Set(tokens).count == 50)
    #expect(tokens.allSatisfy { $0.count == 32 && $0.allSatisfy(\.isHexDigit) })
  }

  @Test(arguments: ["/", "/index.html", "/info.json", "/nothing"])
  func `without a cookie no path answers`(_ path: String) throws {
    var visitor = try Visitor(opensPage: false)
    #expect(visitor.get(path).status == 401)
    visitor.cookie = "sidelight-studio-8080=\(String(repeating: "a", count: 32))"
    #expect(visitor.get(path).status == 401)
  }

  @Test func `many browsers may open the page, the oldest of too many loses it`() throws {
    var visitor = try Visitor()
    let first = visitor.cookie
    for _ in 0 ..< 63 { _ = visitor.get("/?token=\(visitor.studio.token)") }
    #expect(visitor.get("/info.json").status == 200)
    _ = visitor.get("/?token=\(visitor.studio.token)")
    visitor.cookie = first
    #expect(visitor.get("/info.json").status == 401)
  }

  // MARK: Pages

  @Test func `only reading methods are answered`() throws {
    let visitor = try Visitor()
    #expect(visitor.get("/info.json", method: "HEAD").status == 200)
    for method in ["POST", "PUT", "DELETE", "OPTIONS"] {
      #expect(visitor.get("/info.json", method: method).status == 405)
    }
  }

  static let root = URL(filePath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent()
  static let folder = StudioSiteTests.root.appending(path: "Sources/Studio/Page").path

  /// The files of the page by path, with the client's modules.
  static let files: [String: [UInt8]] = {
    var files: [String: [UInt8]] = [:]
    for (folder, prefix) in [("Sources/Studio/Page", ""), ("clients/web/sidelight", "sidelight/")] {
      let folder = StudioSiteTests.root.appending(path: folder)
      for path in (try? FileManager.default.subpathsOfDirectory(atPath: folder.path)) ?? [] {
        files[prefix + path] = (try? Data(contentsOf: folder.appending(path: path)))
          .map { Array($0) }
      }
    }
    return files
  }()

  @Test(arguments: [nil, StudioSiteTests.folder])
  func `each file of the page is in the binary and in the folder`(_ folder: String?) throws {
    let visitor = try Visitor(folder: folder)
    #expect(Self.files["sidelight/index.js"] != nil)
    for (path, content) in Self.files {
      let response = visitor.get("/\(path)")
      #expect(response.status == 200, "run dev/studio-page: \(path) is missing")
      #expect(response.body == content, "run dev/studio-page: \(path) has changed")
      #expect(response.header("content-type") != "application/octet-stream")
    }
    if let index = Self.files["index.html"] { #expect(visitor.get("/").body == index) }
  }

  @Test(arguments: ["/../Package.swift", "/nothing.js", "//", "/%2e%2e/secret"])
  func `a file that does not exist is not found`(_ path: String) throws {
    #expect(try Visitor().get(path).status == 404)
    #expect(try Visitor(folder: Self.folder).get(path).status == 404)
  }

  @Test(arguments: ["/", "/info.json", "/nothing"])
  func `each response forbids foreign content`(_ path: String) throws {
    let response = try Visitor().get(path)
    let policy = try #require(response.header("content-security-policy"))
    #expect(policy.contains("default-src 'self'"))
    #expect(policy.contains("frame-ancestors 'none'"))
    #expect(!policy.contains("unsafe"))
    #expect(response.header("cache-control") == "no-store")
    #expect(response.header("x-content-type-options") == "nosniff")
  }

  // MARK: Hosts

  @Test(arguments: ["127.0.0.1:8080", "localhost:8080", "LOCALHOST:1", "[::1]:8080", "127.0.0.1"])
  func `loopback has several names`(_ authority: String) throws {
    var visitor = try Visitor(opensPage: false)
    visitor.authority = authority
    #expect(visitor.get("/?token=\(visitor.studio.token)").status == 303)
  }

  @Test(arguments: [
    "example.com", "example.com:8080", "127.0.0.1.example.com", "localhost.example.com:8080",
    "127.0.0.1:8080:8080", "127.0.0.1:x", "", "0.0.0.0:8080", "[::1",
  ])
  func `a foreign name reaches nothing`(_ authority: String) throws {
    var visitor = try Visitor()
    visitor.authority = authority
    #expect(visitor.get("/info.json").status == 421)
    #expect(visitor.open([("Origin", "http://\(authority)")]) == .refused(421))
  }

  @Test func `a configured name is accepted`() throws {
    var visitor = try Visitor(hosts: ["Video.Example.com"])
    visitor.authority = "video.example.com"
    #expect(visitor.get("/?token=\(visitor.studio.token)").status == 303)
  }

  // MARK: WebSockets

  @Test func `the page may open a WebSocket`() throws {
    #expect(try Visitor().open([Self.origin]) == .accepted([]))
  }

  @Test(arguments: [
    "http://example.com", "http://127.0.0.1", "http://127.0.0.1:80801", "null", "",
    "http://localhost:8080", "ftp://127.0.0.1:8080", "http://127.0.0.1:8080/",
  ])
  func `a foreign page may not`(_ origin: String) throws {
    let visitor = try Visitor(acceptsBearerTokens: true)
    #expect(visitor.open([("Origin", origin)]) == .refused(403))
    #expect(
      visitor.open([("Origin", origin), ("Authorization", "Bearer abc")]) == .refused(403))
    #expect(visitor.open([Self.origin, ("Origin", origin)]) == .refused(403))
  }

  @Test func `a cookie needs an origin, and an origin needs a cookie`() throws {
    #expect(try Visitor().open([]) == .refused(403))
    #expect(try Visitor(opensPage: false).open([Self.origin]) == .refused(401))
  }

  @Test func `a bearer token replaces cookie and origin where the server checks tokens`() throws {
    let visitor = try Visitor(acceptsBearerTokens: true, opensPage: false)
    #expect(visitor.open([("Authorization", "Bearer abc")]) == .accepted(["Bearer abc"]))
    #expect(
      visitor.open([("Sec-WebSocket-Protocol", "sidelight.v1, bearer.abc.d")])
        == .accepted(["Bearer abc.d"]))
    #expect(visitor.open([Self.origin]) == .refused(401))
  }

  @Test func `where the server checks no tokens a bearer token opens nothing`() throws {
    let visitor = try Visitor(opensPage: false)
    #expect(visitor.open([("Authorization", "Bearer abc")]) == .refused(401))
    #expect(visitor.open([("Sec-WebSocket-Protocol", "bearer.abc")]) == .refused(401))
  }
}

extension WebResponse {
  /// The value of a header field.
  func header(_ name: String) -> String? { self.headers.first { $0.name == name }?.value }
}
