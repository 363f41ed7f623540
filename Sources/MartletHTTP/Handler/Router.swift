/// Selects the handler of a request by method and path.
///
/// A pattern is a path whose segments are literals or names in braces: `/{hub}/registrations/{id}`. Case is ignored in
/// literals and a trailing slash is accepted, because clients of Azure Notification Hubs vary in both
/// (Docs/Specs/NotificationHubs.md). If the last segment of a pattern is a name that ends in three dots, as in
/// `{path...}`, it matches one or more segments. If several patterns match a path, only the pattern that was added
/// first is used: a method for which this pattern has no route is refused.
public struct Router: HTTPHandler {
    /// Answers a request that matches a route.
    public typealias Answer = @Sendable (HTTPRequest, RouteMatch) async -> HTTPResponse
    /// Decides from the head of a request how the request is processed, for example that it is refused.
    public typealias Admission = @Sendable (HTTPRequest, RouteMatch) -> HTTPRoute

    private struct Route {
        let method: HTTPMethod
        let name: String
        let path: String
        let pattern: [Segment]
        let admit: Admission
    }

    fileprivate enum Segment: Equatable {
        case literal(String)
        case parameter(String)
        /// A parameter with this name, which matches all further segments of the path.
        case rest(String)
    }

    /// The reason why no route accepts a request.
    public enum Refusal: Sendable {
        /// The target violates RFC 3986.
        case badTarget
        case notFound
        /// The path has routes for the methods in `allow` only.
        case methodNotAllowed(allow: [HTTPMethod])
    }

    private var routes: [Route] = []
    private let refuse: @Sendable (HTTPRequest, Refusal) -> HTTPResponse

    /// Creates a router without routes.
    /// - Parameter refuse: Creates the response, in the API's format, to a request that no route accepts.
    public init(refuse: @escaping @Sendable (HTTPRequest, Refusal) -> HTTPResponse) {
        self.refuse = refuse
    }

    /// Adds a route that accepts every request.
    /// - Parameters:
    ///   - pattern: The pattern, starting with a slash.
    ///   - bodyLimit: The maximum size of the body, in bytes.
    ///   - streamsBody: Whether `answer` reads the body from `HTTPRequest.reader`, instead of receiving a collected
    ///     body.
    public mutating func on(
        _ method: HTTPMethod, _ pattern: String, bodyLimit: Int = 0, streamsBody: Bool = false,
        answer: @escaping Answer
    ) {
        admit(method, pattern) { _, match in
            HTTPRoute(bodyLimit: bodyLimit, streamsBody: streamsBody) { request in await answer(request, match) }
        }
    }

    /// Adds a route whose closure decides, from the head of each request, how that request is processed.
    /// - Parameter pattern: The pattern, starting with a slash.
    public mutating func admit(_ method: HTTPMethod, _ pattern: String, _ admission: @escaping Admission) {
        let segments = pattern.split(separator: "/").map { part in
            Segment(part)
        }
        routes.append(
            Route(
                method: method, name: "\(method.rawValue) \(pattern)", path: pattern, pattern: segments,
                admit: admission))
    }

    /// The routes as `METHOD PATTERN`, in the order in which they were added.
    public var routeNames: [String] { routes.map(\.name) }

    public func route(for head: HTTPRequest) -> HTTPRoute {
        switch find(head) {
        case .success(let (found, match)):
            var route = found.admit(head, match)
            route.pattern = found.path
            return route
        case .failure(let failure): return HTTPRoute(refusing: refuse(head, failure.refusal))
        }
    }

    private struct NoRoute: Error {
        let refusal: Refusal
    }

    private func find(_ request: HTTPRequest) -> Result<(route: Route, match: RouteMatch), NoRoute> {
        guard let target = HTTPTarget(request.target) else { return .failure(NoRoute(refusal: .badTarget)) }
        var resource: [Segment]?
        var allow: [HTTPMethod] = []
        for index in routes.indices where Self.fits(routes[index].pattern, target.segments) {
            let route = routes[index]
            guard resource == nil || resource == route.pattern else { continue }
            if route.method == request.method {
                let parameters = Self.parameters(of: route.pattern, in: target.segments)
                return .success((route, RouteMatch(target: target, parameters: parameters)))
            }
            resource = route.pattern
            allow.append(route.method)
        }
        return .failure(NoRoute(refusal: allow.isEmpty ? .notFound : .methodNotAllowed(allow: allow)))
    }

    private static func fits(_ pattern: [Segment], _ segments: [String]) -> Bool {
        let isOpen = pattern.last?.isRest == true
        guard isOpen ? pattern.count <= segments.count : pattern.count == segments.count else { return false }
        return zip(pattern, segments).allSatisfy { part, segment in
            guard case .literal(let literal) = part else { return true }
            // Comparing the lengths first rules out most patterns without creating a lower-case copy.
            return segment.utf8.count == literal.utf8.count && (segment == literal || segment.lowercased() == literal)
        }
    }

    private static func parameters(of pattern: [Segment], in segments: [String]) -> [RouteMatch.Parameter] {
        var parameters: [RouteMatch.Parameter] = []
        for (index, part) in pattern.enumerated() {
            switch part {
            case .rest(let name):
                parameters.append((name, segments[index...].joined(separator: "/"), index..<segments.count))
            case .literal: break
            case .parameter(let name): parameters.append((name, segments[index], index..<index + 1))
            }
        }
        return parameters
    }
}

extension Router.Segment {
    fileprivate init(_ part: Substring) {
        guard part.first == "{" else {
            self = .literal(part.lowercased())
            return
        }
        let name = part.dropFirst().dropLast()
        self = name.hasSuffix("...") ? .rest(String(name.dropLast(3))) : .parameter(String(name))
    }

    fileprivate var isRest: Bool {
        if case .rest = self { true } else { false }
    }
}

/// The target of a request, matched with a route's pattern.
public struct RouteMatch: Sendable {
    public let target: HTTPTarget
    typealias Parameter = (name: String, value: String, segments: Range<Int>)
    /// The parameters that the path contains.
    ///
    /// They are in an array because there are only a few of them: a linear search is faster than hashing.
    private let parameters: [Parameter]

    init(target: HTTPTarget, parameters: [Parameter]) {
        self.target = target
        self.parameters = parameters
    }

    /// The decoded path segment that matches a name in braces. For `{path...}`, all segments that match, joined by
    /// slashes. Empty if the pattern does not contain the name.
    public subscript(name: String) -> String { parameters.last { $0.name == name }?.value ?? "" }

    /// Returns the name of the parameter that the path segment at an index matches; nil if the pattern has a literal
    /// there.
    public func parameterName(at index: Int) -> String? {
        parameters.first { $0.segments.contains(index) }?.name
    }
}
