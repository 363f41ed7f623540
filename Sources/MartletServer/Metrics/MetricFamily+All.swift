/// All metrics of a server. Every label has only a few values. So values that callers choose are never used as label
/// values, except the names of hubs, whose number is limited (`CredentialExpiries.hubLimit`).
extension MetricFamily {
    // MARK: Notifications

    static let accepted = MetricFamily(
        "martlet_notifications_accepted_total", .counter, ["timing"], "Notifications accepted, by when they begin.")
    static let attempts = MetricFamily(
        "martlet_push_attempts_total", .counter, ["platform"], "Requests handed to the transport for a push.")
    static let failures = MetricFamily(
        "martlet_push_failures_total", .counter, ["platform"],
        "Requests for a push that failed because of the push service or the way to it, and are tried again.")
    static let outcomes = MetricFamily(
        "martlet_push_outcomes_total", .counter, ["platform", "outcome"], "Devices with a final outcome, by outcome.")
    static let latency = MetricFamily(
        "martlet_accept_to_wire_seconds", .histogram, ["platform"],
        "From acceptance to handing a batch of first attempts to the transport.")
    static let deliveries = MetricFamily(
        "martlet_deliveries", .gauge, ["state"], "Deliveries in memory, by state.")
    static let held = MetricFamily(
        "martlet_notifications_held", .gauge, ["control"], "Notifications that are paused or halted.")
    static let backlog = MetricFamily(
        "martlet_deliveries_unfinished", .gauge, [], "Deliveries that are not finished, on disk.")
    static let oldest = MetricFamily(
        "martlet_delivery_oldest_age_seconds", .gauge, [],
        "Time since the oldest unfinished delivery was accepted or due; 0 if there is none.")
    static let partsWaiting = MetricFamily(
        "martlet_parts_waiting", .gauge, [],
        "Parts of notifications that have not begun, such as the rest of a canary.")
    static let partsLate = MetricFamily(
        "martlet_parts_late_seconds", .gauge, [], "Time since the oldest waiting part was due; 0 if none is late.")

    // MARK: Push services

    static let connections = MetricFamily(
        "martlet_push_connections", .gauge, ["platform"], "Connections to push services.")
    static let paused = MetricFamily(
        "martlet_push_paused", .gauge, ["platform", "of"], "Lanes and origins that are paused.")
    static let failing = MetricFamily(
        "martlet_push_failing", .gauge, ["platform"], "Origins to which no push of a hub gets through.")
    static let quarantines = MetricFamily(
        "martlet_quarantines", .gauge, ["platform"],
        "Apps of hubs whose devices nearly all look gone, so that none is removed.")
    static let renewals = MetricFamily(
        "martlet_token_renewals_total", .counter, ["platform", "result"], "Provider tokens signed or fetched.")
    static let credentialExpiry = MetricFamily(
        "martlet_credential_expiry_seconds", .gauge, ["hub", "platform"],
        "Time until a credential with a known expiry expires; negative afterwards.")

    static let certificateExpiry = MetricFamily(
        "martlet_certificate_expiry_seconds", .gauge, ["listener"],
        "Time until the certificate of a listener expires; negative afterwards.")

    static let backupAge = MetricFamily(
        "martlet_backup_age_seconds", .gauge, [],
        "Time since the last backup of the server; absent if there was none.")

    // MARK: Database

    static let databaseBytes = MetricFamily(
        "martlet_database_bytes", .gauge, ["file"], "Size of the database and of its write-ahead log.")
    static let databaseMemory = MetricFamily(
        "martlet_database_memory_bytes", .gauge, [], "Memory that SQLite uses.")
    static let diskBytes = MetricFamily(
        "martlet_disk_bytes", .gauge, ["kind"],
        "Free space on the disk of the data directory, and the reserve below which nothing new is accepted.")
    static let writesWaiting = MetricFamily(
        "martlet_database_writes_waiting", .gauge, [], "Changes that wait for the next transaction.")
    static let writeWait = MetricFamily(
        "martlet_database_write_wait_seconds", .histogram, [],
        "From the first change of a transaction until the writer starts on it.")
    static let commitTime = MetricFamily(
        "martlet_database_commit_seconds", .histogram, [],
        "From the writer's start on a transaction until the transaction is on disk.")

    // MARK: Nodes

    static let nodesAlive = MetricFamily(
        "martlet_nodes_alive", .gauge, [], "Nodes of the shared database whose leases have not ended.")
    static let clusterUp = MetricFamily(
        "martlet_cluster_up", .gauge, ["cluster"],
        "Whether this node reaches a cluster (1) or not (0); absent if there is only one.")
    static let nodeIncarnation = MetricFamily(
        "martlet_node_incarnation", .gauge, [], "Number of this process among all that have used the shared database.")
    static let nodeHubs = MetricFamily("martlet_node_hubs", .gauge, [], "Hubs that this node sends for.")
    static let nodeTakeovers = MetricFamily(
        "martlet_node_takeovers_total", .counter, [], "Hubs that this node has taken over.")
    static let nodeFencedSteps = MetricFamily(
        "martlet_node_fenced_steps_total", .counter, [],
        "Records that the database refused because another node owned the hub.")
    static let nodeSelfFences = MetricFamily(
        "martlet_node_self_fences_total", .counter, [],
        "Times that this node stopped sending because it could not renew its lease.")
    static let nodeLease = MetricFamily(
        "martlet_node_lease_seconds", .gauge, [], "Time since this node's lease was renewed.")
    static let nodeClock = MetricFamily(
        "martlet_node_clock_difference_seconds", .gauge, [],
        "How far the database's clock is ahead of this machine's, if by more than a second.")

    // MARK: Process

    static let loopBusy = MetricFamily(
        "martlet_loop_busy_seconds_total", .counter, ["loop"], "Time in which an event loop worked and did not wait.")
    static let requests = MetricFamily(
        "martlet_http_requests_total", .counter, ["area", "code"], "Requests answered, by part of the server.")
    static let refusals = MetricFamily(
        "martlet_http_refusals_total", .counter, ["area", "code"],
        "Requests refused because of a limit (429) or a full disk (507).")
    static let serverConnections = MetricFamily(
        "martlet_http_connections", .gauge, ["listener"], "Connections of clients.")
    static let refusedConnections = MetricFamily(
        "martlet_http_connections_refused_total", .counter, ["listener", "reason"],
        "Connections closed before their first request.")
    static let bodyBytes = MetricFamily(
        "martlet_http_body_bytes", .gauge, ["listener"],
        "Memory reserved for bodies of requests that are not answered yet.")
    static let answerBytes = MetricFamily(
        "martlet_http_answer_bytes", .gauge, ["listener"],
        "Memory reserved for answers that clients have not read yet.")
    static let refusedBodies = MetricFamily(
        "martlet_http_bodies_refused_total", .counter, ["listener"],
        "Requests answered 503 because there was no memory for their bodies or answers.")
    static let processorTime = MetricFamily(
        "process_cpu_seconds_total", .counter, [], "Processor time of the process.")
    static let residentMemory = MetricFamily(
        "process_resident_memory_bytes", .gauge, [], "Resident memory of the process.")
    static let openFiles = MetricFamily("process_open_fds", .gauge, [], "Open file descriptors.")
    static let openFilesLimit = MetricFamily("process_max_fds", .gauge, [], "Maximum number of open file descriptors.")
    static let startTime = MetricFamily(
        "process_start_time_seconds", .gauge, [], "Start of the process, in Unix time.")

    /// All metrics, in the order in which they are written.
    static let all = [
        accepted, attempts, failures, outcomes, latency, deliveries, held, backlog, oldest, partsWaiting, partsLate,
        connections, paused, failing, quarantines, renewals, credentialExpiry, certificateExpiry, backupAge,
        databaseBytes, databaseMemory, diskBytes, writesWaiting, writeWait, commitTime,
        nodesAlive, clusterUp, nodeIncarnation, nodeHubs, nodeTakeovers, nodeFencedSteps, nodeSelfFences, nodeLease,
        nodeClock,
        loopBusy, requests, refusals, serverConnections, refusedConnections, bodyBytes, answerBytes, refusedBodies,
        processorTime, residentMemory, openFiles, openFilesLimit, startTime,
    ]
}
