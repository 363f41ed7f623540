import MartletCore
import MartletHTTP
import MartletModel

// The routes that list all registrations, the registrations with a tag, and the registrations of a handle
// (NotificationHubs.md, sections 4.9 and 4.10).
extension RegistrationRoutes {
    /// Returns the right that a listing requires. Listing by handle requires only Listen, because the caller knows the
    /// handle; other listings require Manage.
    @Sendable static func rightToList(_ match: RouteMatch) -> AccessRights {
        match.target.item("$filter") == nil ? .manage : .listen
    }

    @Sendable func list(_ call: HubCall) async throws(HubAPIError) -> HTTPResponse {
        guard let filter = call.match.target.item("$filter") else {
            return try await listing("registrations", [.all], of: call)
        }
        let candidates = try ChannelFilter(filter.value ?? "").candidates(platforms)
        return try await listing("registrations", candidates, of: call)
    }

    @Sendable func listByTag(_ call: HubCall) async throws(HubAPIError) -> HTTPResponse {
        guard call.match.target.item("$filter") == nil else {
            throw .badRequest("A listing by tag takes no $filter")
        }
        let tag: Tag
        do throws(TagError) {
            tag = try Tag(call.match["tag"])
        } catch {
            throw .badRequest("The tag in the path is not valid: \(error)")
        }
        let path = "tags/\(PercentEncoding.encode(tag.spelling))/registrations"
        return try await listing(path, [.tag(tag)], of: call)
    }

    /// Returns one page of the registrations that the filters select. The filters are evaluated one after another.
    private func listing(
        _ path: String, _ filters: [RegistrationQuery.Filter], of call: HubCall
    ) async throws(HubAPIError) -> HTTPResponse {
        let request = try PageRequest(call.match.target, scope: "\(call.hub.id.rawValue)/\(path)")
        var position: PagePosition? = request.position
        var found: [Registration] = []
        while let at = position, at.filter < filters.count, found.count < request.limit {
            let page = try await page(filters[at.filter], after: at.after, limit: request.limit - found.count, in: call)
            found += page.registrations
            position =
                page.next.map { PagePosition(filter: at.filter, after: $0) }
                ?? (at.filter + 1 < filters.count ? PagePosition(filter: at.filter + 1, after: nil) : nil)
        }
        return feed(path, found, next: filters.isEmpty ? nil : position.map(request.token), of: call)
    }

    private func page(
        _ filter: RegistrationQuery.Filter, after: Int64?, limit: Int, in call: HubCall
    ) async throws(HubAPIError) -> RegistrationPage {
        do throws(DeviceRegistryError) {
            return try await devices.registrations(in: call.hub.id, filter, after: after, limit: limit)
        } catch {
            throw HubAPIError(error)
        }
    }

    private func feed(
        _ path: String, _ registrations: [Registration], next token: String?, of call: HubCall
    ) -> HTTPResponse {
        let url = call.url(path)
        let client = call.request.fields["user-agent"]?.lowercased() ?? ""
        let feed = RegistrationFeed(
            url: url + call.versionQuery,
            nextURL: token.map { url + call.match.target.query(replacing: "continuationtoken", with: $0) },
            updatedAt: registrations.map(\.updatedAt).max() ?? call.hub.createdAt,
            entries: registrations.compactMap { entry($0, in: call) }.filter { !$0.isHidden(from: client) })
        var fields: HTTPFields = ["content-type": "application/atom+xml; type=feed; charset=utf-8"]
        // On the last page the header is omitted instead of being empty. The Java client returns an empty header as an
        // empty text, so that a loop "while not null" would not end (NotificationHubs.md, section 4.10).
        if let token { fields["x-ms-continuationtoken"] = token }
        return HTTPResponse(.ok, fields: fields, body: .bytes(feed.document()))
    }
}

extension HTTPTarget {
    /// Returns the query with a new value for one item. This item moves to the end; the rest of the query is unchanged.
    fileprivate func query(replacing name: String, with value: String) -> String {
        let kept = query.filter { $0.name.lowercased() != name }.map { item in
            PercentEncoding.encode(item.name) + (item.rawValue.map { "=" + $0 } ?? "")
        }
        return "?" + (kept + ["\(name)=\(value)"]).joined(separator: "&")
    }
}
