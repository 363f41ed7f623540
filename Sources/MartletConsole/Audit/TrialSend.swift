import MartletHTTP

/// Determines which requests to a hub's API only try a send, for the audit log. They are requests to those routes that
/// have dry runs or test sends. All other routes of the hub's API refuse `dryRun`. Those that accept `test` ignore it and
/// make the change, so they are recorded as usual.
enum TrialSend {
    private static let withDryRuns: Set<String> = [
        "POST /rest/{hub}/messages", "POST /rest/{hub}/messages/$batch", "POST /rest/{hub}/schedulednotifications",
        "PUT /rest/{hub}/schedulednotifications/{id}",
    ]
    private static let withTests: Set<String> = ["POST /rest/{hub}/messages", "POST /rest/{hub}/messages/$batch"]

    /// Returns whether a request is a dry run, which changes nothing.
    /// - Parameter route: The method and the path pattern, such as `POST /rest/{hub}/messages`.
    static func isDryRun(_ target: HTTPTarget, on route: String) -> Bool {
        withDryRuns.contains(route) && target.flag("dryRun")
    }

    /// Returns whether a request is a test send, which creates no notification. A test send is requested by the query
    /// item `test` or by a header (NotificationHubs.md, section 6.5).
    /// - Parameter route: The method and the path pattern, such as `POST /rest/{hub}/messages`.
    static func isTest(_ request: HTTPRequest, _ target: HTTPTarget, on route: String) -> Bool {
        guard withTests.contains(route) else { return false }
        return target.flag("test") || request.fields["servicebusnotification-testsend"]?.lowercased() == "true"
    }
}
