import MartletModel

extension PushClient {
    /// The name of the user who is logged in with a password; nil if there is none, or if users log in through a
    /// `TokenProvider`.
    public var user: String? {
        get async { await logIns.value.credentials?.user }
    }

    /// Logs a user in and stores the credentials in the `CredentialStore`. A registration that was waiting for a log-in
    /// is done in the background.
    /// - Throws: `PushClientError`, of kind `wrongPassword` or `tooManyAttempts` if the user can do something about it,
    ///   and of kind `logInNeeded` if the client has a `TokenProvider`.
    public func logIn(user: String, password: String) async throws(PushClientError) {
        guard tokens == nil else {
            throw PushClientError(.logInNeeded, "Users of this app log in at its identity provider.")
        }
        lastLogIn += 1
        let number = lastLogIn
        let given = Credentials(user: user, password: password)
        let token = try await retrying(endsWithUser: false) { () throws(RetryableFailure) in
            try await openSession(given)
        }
        guard number == lastLogIn else {
            await logIns.change { $0.departures.append(PendingLogOut(token: token, endsSession: true)) }
            runBackgroundRetries()
            throw .superseded
        }
        lastUser += 1
        session = token
        await logIns.change { $0.credentials = given }
        guard number == lastLogIn else { throw .superseded }
        registerAfterLogIn()
    }

    /// Tells a client with a `TokenProvider` that a user has logged in at the identity provider. A registration that
    /// was waiting for a log-in is done in the background. If the device was registered for another user before, it is
    /// registered for this user in the background as well.
    public func loggedIn() {
        guard tokens != nil else { return }
        lastLogIn += 1
        lastUser += 1
        registerAfterLogIn()
    }

    /// Removes the credentials and this device's registration, and ends the session.
    ///
    /// The user is logged out on this device in any case. If the server cannot be reached now, the log-out is retried
    /// in the background, and by `resume()` at later launches. With a `TokenProvider`, call `logOut` before the user
    /// logs out at the provider, because the server must still be able to identify the user.
    public func logOut() async {
        lastUser += 1
        lastLogIn += 1
        let number = lastLogIn
        // The registration that the app wants is given up before `departureNow` reads the id of the registration to
        // remove. From then on, no further registration can start. A registration in progress has either stored its id
        // already, so that it is removed below, or its request is not sent.
        giveUpRegistration()
        let departure = await departureNow()
        await registrationRecord.change { $0 = RegistrationRecord() }
        let isLast = number == lastLogIn
        await logIns.change { record in
            if isLast { record.credentials = nil }
            if departure.isDue { record.departures.append(departure.kept) }
        }
        // If the disk is full, the old value is still stored. A password must not remain, so the value is removed.
        if isLast, await logIns.value.credentials != nil, number == lastLogIn { await logIns.remove() }
        if number == lastLogIn {
            // Another task may have opened a new session while the credentials were still stored. So the session is
            // discarded once more. The new value of `lastUser` makes that task discard its own work, too.
            session = nil
            lastUser += 1
        }
        guard departure.isDue else { return }
        // The server is told now, while the password can still open a new session if this session has ended meanwhile.
        if (try? await takeTurn({ () throws(RetryableFailure) in try await depart(departure) })) != nil {
            await logIns.change { $0.departures.removeAll { $0 == departure.kept } }
        } else {
            runBackgroundRetries()
        }
    }
}

extension PushClient {
    /// Returns the bearer token for requests.
    /// - Parameter refused: A token that the server has just refused.
    func authorization(insteadOf refused: String? = nil) async throws(RetryableFailure) -> String {
        if let tokens { return try await token(of: tokens, insteadOf: refused) }
        if let refused, session == refused { session = nil }
        return if let session { session } else { try await reopenSession() }
    }

    private func token(
        of tokens: any TokenProvider, insteadOf refused: String?
    ) async throws(RetryableFailure) -> String {
        let token: String?
        do {
            token = try await tokens.token(insteadOf: refused)
        } catch {
            throw RetryableFailure(
                error: PushClientError(.unreachable, "The identity provider cannot be reached."), mayPass: true)
        }
        guard let token, token != refused else { throw .logInNeeded }
        return token
    }

    /// Opens a new session with the stored credentials, for a request that is sent afterwards.
    private func reopenSession() async throws(RetryableFailure) -> String {
        let user = lastUser
        guard let kept = await logIns.value.credentials else { throw .logInNeeded }
        do throws(RetryableFailure) {
            let token = try await openSession(kept)
            guard user == lastUser else { throw .superseded }
            session = token
            return token
        } catch {
            guard user == lastUser else { throw .superseded }
            guard error.error.kind == .wrongPassword else { throw error.withoutEffect }
            await logIns.change { $0.credentials = nil }
            throw .logInNeeded
        }
    }

    /// Opens a session. Too many failed log-ins are a final error, because automatic retries would only prolong the
    /// wait.
    private func openSession(_ credentials: Credentials) async throws(RetryableFailure) -> String {
        let answer = try await exchange(
            request("POST", "/api/sessions", .object(credentials.members)), except: 429)
        switch answer.status {
        case 201: break
        case 401: throw .final(.wrongPassword, "The user name or the password is wrong.")
        default: throw RetryableFailure(answer).withoutAnotherTry
        }
        guard let token = (try? JSON(parsing: answer.body))?["token"]?.string else {
            throw .final(.serverProblem(status: 201), "The server's answer holds no session.")
        }
        return token
    }

    private func departureNow() async -> PendingLogOut {
        var departure = PendingLogOut(token: session, endsSession: session != nil)
        session = nil
        departure.registration = await registrationRecord.value.id
        departure.credentials = await logIns.value.credentials
        if let tokens { departure.token = try? await tokens.token(insteadOf: nil) }
        return departure
    }

    /// Tells the server about a log-out. Also returns normally if nothing more can be done about the log-out.
    func depart(_ departure: PendingLogOut) async throws(RetryableFailure) {
        var departure = departure
        if departure.token == nil {
            guard try await openSession(for: &departure) else { return }
        }
        if let id = departure.registration {
            let removal = request("DELETE", registerPath(id))
            var answer = try await exchange(removal.authorized(by: departure.token))
            if answer.status == 401, try await openSession(for: &departure) {
                answer = try await exchange(removal.authorized(by: departure.token))
            }
        }
        guard departure.endsSession else { return }
        _ = try await exchange(request("DELETE", "/api/sessions").authorized(by: departure.token))
    }

    /// Opens a session with the credentials of a log-out, or gets a new token from the identity provider, and stores
    /// the token in `departure`.
    /// - Returns: false if there are no credentials or they are wrong, or if no user is logged in at the identity
    ///   provider.
    private func openSession(for departure: inout PendingLogOut) async throws(RetryableFailure) -> Bool {
        if let tokens { return try await renewToken(of: tokens, for: &departure) }
        guard let credentials = departure.credentials else { return false }
        do throws(RetryableFailure) {
            departure.token = try await openSession(credentials)
        } catch {
            guard error.error.kind == .wrongPassword else { throw error }
            return false
        }
        departure.endsSession = true
        return true
    }

    /// Gets a new token. If another user has logged in at the provider meanwhile, the token is that user's and can only
    /// remove that user's own registration.
    /// - Returns: false if no user is logged in at the provider.
    private func renewToken(
        of tokens: any TokenProvider, for departure: inout PendingLogOut
    ) async throws(RetryableFailure) -> Bool {
        do throws(RetryableFailure) {
            departure.token = try await token(of: tokens, insteadOf: departure.token)
            return true
        } catch {
            guard error.error.kind == .logInNeeded else { throw error }
            return false
        }
    }
}
