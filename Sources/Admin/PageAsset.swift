/// A file of the live page, embedded in the binary.
struct PageAsset: Sendable {
  let path: String
  let type: String
  let content: [UInt8]

  static let all = [
    PageAsset(path: "", type: "text/html; charset=utf-8", content: PackageResources.index_html),
    PageAsset(
      path: "page.css", type: "text/css; charset=utf-8", content: PackageResources.page_css),
    PageAsset(
      path: "page.js", type: "text/javascript; charset=utf-8", content: PackageResources.page_js),
  ]
}
