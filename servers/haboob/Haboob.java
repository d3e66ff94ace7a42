import java.io.*;
import java.net.*;
import java.nio.ByteBuffer;
import java.nio.channels.*;
import java.nio.file.*;
import java.nio.file.attribute.*;
import java.time.*;
import java.time.format.DateTimeFormatter;
import java.util.*;
import java.util.concurrent.*;
import java.util.concurrent.atomic.*;
import java.util.regex.*;

import static java.lang.management.ManagementFactory.getGarbageCollectorMXBeans;
import static java.nio.channels.SelectionKey.*;
import static java.nio.charset.StandardCharsets.*;

/**
 * A staged event-driven web server, after SEDA and its Haboob; README.md says what is theirs and what is ours. An event is a
 * connection: whoever takes one from a queue owns it until it is handed on, so that connections need no locks.
 */
public final class Haboob {
    static final int MAX_HEAD_BYTES = 8192, MAX_CGI_BYTES = 65536, CHUNK_BYTES = 32768, MIN_BATCH = 8, BACKLOG = 4096;
    static final long SECOND_NS = 1_000_000_000, CGI_TIMEOUT_S = 10, RETIRE_S = 5;
    static final Map<String, String> DEFAULTS = new TreeMap<>(Map.of("--listen", "127.0.0.1:8080", "--root", ".", "--cgi", "",
        "--status-path", "/plimsoll-status", "--cache-bytes", "67108864", "--threads-max", "20", "--queue-length", "4096",
        "--queue-threshold", "20", "--batch-max", "1000", "--idle-timeout", "15"));
    static final Map<Integer, String> REASONS = Map.of(200, "OK", 304, "Not Modified", 400, "Bad Request", 404, "Not Found",
        405, "Method Not Allowed", 501, "Not Implemented", 502, "Bad Gateway", 503, "Service Unavailable");
    static final Map<String, String> TYPES = Map.of("html", "text/html", "css", "text/css", "js", "text/javascript",
        "txt", "text/plain", "svg", "image/svg+xml", "png", "image/png", "jpg", "image/jpeg", "gif", "image/gif");
    static final DateTimeFormatter DATE =
        DateTimeFormatter.ofPattern("EEE, dd MMM uuuu HH:mm:ss 'GMT'", Locale.US).withZone(ZoneOffset.UTC);
    static final String TOKEN = "([!#$%&'*+.^_`|~0-9A-Za-z-]+)", GOOD_ESCAPES = "(?![^ ?]*%(?:00|(?![0-9A-Fa-f]{2})))";
    static final Pattern HEAD = Pattern.compile("[\r\n]*+([\\s\\S]+?)\r?\n\r?\n"),
        START = Pattern.compile(TOKEN + " (?:http://[^/ ]*)?" + GOOD_ESCAPES + "(/[!-~&&[^?]]*)\\??([!-~]*) HTTP/1\\.([0-9])\r?"),
        FIELD = Pattern.compile(TOKEN + ":([\t -~\u0080-\u00ff]*)\r?"),
        NONE = Pattern.compile("NoSuchFile|AccessDenied|InvalidPath|Not a directory|name too long|symbolic");
    static final Map<String, Long> LOGGED = new ConcurrentHashMap<>();

    final Map<String, String> options = new HashMap<>(DEFAULTS);
    final Selector selector = Selector.open();
    final LongAdder accepted = new LongAdder(), closed = new LongAdder(), requests = new LongAdder(), refused = new LongAdder();
    final Cache cache;
    final Stage accept, parse, lookup, file, send, cgi;
    final List<Stage> stages;
    long sweptNs = System.nanoTime();

    Haboob(String[] arguments) throws IOException {
        StringJoiner mistakes = new StringJoiner("\nhaboob: ", "haboob: ", "").setEmptyValue("");
        for (int i = 0; i < arguments.length; i += 2) {
            String name = arguments[i], value = i + 1 < arguments.length ? arguments[i + 1] : "", usual = DEFAULTS.get(name);
            boolean fits = value.matches(usual != null && usual.matches("[0-9]+") ? "[1-9][0-9]{0,14}" : ".+");
            if (usual == null) mistakes.add("there is no option `" + name + "`, only " + String.join(", ", DEFAULTS.keySet()));
            else if (!fits) mistakes.add(name + " cannot be `" + value + "`; try `" + name + " " + usual + "`");
            else if (name.equals("--root") && !Files.isDirectory(Path.of(value))) mistakes.add("no directory: `" + value + "`");
            options.put(name, value);
        }
        if (mistakes.length() > 0) end(2, mistakes.toString());
        cache = new Cache(Long.parseLong(options.get("--cache-bytes")));
        accept = new Stage("accept", number("--batch-max"), c -> {
            c.channel.setOption(StandardSocketOptions.TCP_NODELAY, true).configureBlocking(false);
            c.await(OP_READ);
        });
        parse = new Stage("parse", number("--batch-max"), this::parse);
        lookup = new Stage("cache", number("--batch-max"), this::lookUp);
        send = new Stage("send", number("--batch-max"), this::send);
        // One event at a time where it may wait for a disk or a process: the others of a batch would wait with it.
        file = new Stage("file", 1, this::read);
        cgi = new Stage("cgi", 1, this::execute);
        stages = List.of(accept, parse, lookup, file, send, cgi);
    }

    public static void main(String[] arguments) throws IOException {
        if (List.of(arguments).equals(List.of("--version"))) end(0, "haboob 1.0");
        // Loads classes, of the JDK, too, that need a descriptor for it: later there may be none left.
        Haboob.class.getDeclaredClasses();
        SocketChannel.open().close();
        Haboob haboob = new Haboob(arguments);
        ServerSocketChannel server = ServerSocketChannel.open();
        String listen = haboob.options.get("--listen");
        try {
            String[] parts = listen.split(":(?=[^:]*$)");
            server.bind(new InetSocketAddress(parts[0], Integer.parseInt(parts[1])), BACKLOG);
        } catch (IOException | RuntimeException error) {
            end(2, "haboob: --listen takes a HOST:PORT of this machine that is free, not `" + listen + "`: " + error);
        }
        haboob.stages.forEach(Stage::addThread);
        repeat("select", haboob::select);
        repeat("listen", () -> haboob.admit(server.accept()));
        System.err.println("haboob: serving " + haboob.options.get("--root") + " at " + server.getLocalAddress());
    }

    static void closeQuietly(Closeable thing) {
        try { if (thing != null) thing.close(); } catch (IOException gone) { /* Nothing is lost with it. */ }
    }

    static void end(int code, String words) {
        (code == 0 ? System.out : System.err).println(words);
        System.exit(code);
    }
    static ByteBuffer latin1(String text) { return ByteBuffer.wrap(text.getBytes(ISO_8859_1)); }
    int number(String option) { return (int) Math.min(1_000_000, Long.parseLong(options.get(option))); }

    /** A thread that takes one step after another, until one says that it was the last. */
    static void repeat(String name, Callable<Boolean> step) {
        new Thread(() -> {
            for (boolean goesOn = true; goesOn; ) try {
                goesOn = step.call();
            } catch (Throwable error) {
                log(name, name + " failed, next try in 0.1 s: " + error);
                java.util.concurrent.locks.LockSupport.parkNanos(SECOND_NS / 10);
            }
        }, name).start();
    }

    /** A line for the log, of each kind one a second. */
    static void log(String kind, String line) {
        Long second = System.nanoTime() / SECOND_NS;
        if (!second.equals(LOGGED.put(kind, second))) System.err.println(Instant.now() + " haboob: " + line);
    }

    /** Takes in a connection. While the first stage is full they stay in the kernel's queue. */
    boolean admit(SocketChannel channel) throws InterruptedException {
        accepted.increment();
        accept.queue.put(new Connection(channel));
        return true;
    }

    /** Waits for the connections that no stage has, gives those that are ready to one, and once a second looks after all. */
    boolean select() throws IOException {
        selector.select(key -> {
            key.interestOps(0);
            Connection c = (Connection) key.attachment();
            pass(c, c.wanted == OP_WRITE ? send : parse);
        }, 1000);
        long now = System.nanoTime(), timeoutNs = number("--idle-timeout") * SECOND_NS;
        if (now - sweptNs < SECOND_NS) return true;
        for (Stage stage : stages) stage.adjust((double) (now - sweptNs) / SECOND_NS);
        for (SelectionKey key : selector.keys()) {
            Connection c = (Connection) key.attachment();
            if (key.isValid() && key.interestOps() != 0 && now - c.sinceNs > timeoutNs) c.close();
        }
        sweptNs = now;
        return true;
    }

    /** Hands a connection on. Where there is no room its client is sent away: with 503 if that can still be said. */
    void pass(Connection c, Stage to) {
        if (to.queue.offer(c)) return;
        refused.increment();
        try { if (!c.begun && c.fail(503).flush()) c.finish(); } catch (IOException gone) { /* Nobody is left to be told. */ }
        c.close();
    }

    void parse(Connection c) throws IOException {
        String head = c.nextHead();
        boolean open = head != null || c.fill();
        if (head == null) head = c.nextHead();
        int status = head != null ? c.understand(head) : c.in.position() == MAX_HEAD_BYTES ? 400 : 0;
        if (status == 0 && open) c.await(OP_READ);
        else if (status == 0) c.close();
        else if (status != 200) pass(c.fail(status), send);
        else if (c.path.equals(options.get("--status-path"))) pass(c.answer(200, "application/json", status()), send);
        else pass(c, c.path.startsWith("/cgi/") && !options.get("--cgi").isEmpty() ? cgi : lookup);
    }

    void lookUp(Connection c) {
        c.entry = cache.take(c.path);
        // Whoever finds one that was not looked at for a second goes on to the disk, but not to be refused there.
        boolean checked = c.entry != null && System.nanoTime() - c.entry.checkedNs < SECOND_NS;
        boolean hit = checked || (c.entry != null && file.queue.remainingCapacity() == 0);
        if (hit) cache.hits.increment();
        if (hit) pass(c.answer(c.entry), send); else pass(c.release(), file);
    }

    void read(Connection c) throws IOException {
        try {
            if (c.left > 0) c.answer(chunk(c.file, c.left)); else c.answer(open(c));
        } catch (IOException | InvalidPathException error) {
            boolean none = NONE.matcher(error.toString()).find();
            if (!none) log("file", "failed to read " + c.path + ": " + error.getMessage());
            cache.remove(c.path);
            if (c.begun) throw new IOException(error);
            c.fail(none ? 404 : 503);
        }
        pass(c, send);
    }

    /** A file as it is now: from the cache, read into it, or opened to be read by chunks where it has no room there. */
    Entry open(Connection c) throws IOException {
        Path path = Path.of(options.get("--root") + c.path);
        BasicFileAttributes now = Files.readAttributes(path, BasicFileAttributes.class);
        if (!now.isRegularFile()) throw new NoSuchFileException(c.path);
        c.entry = cache.take(c.path);
        if (c.entry != null && c.entry.size == now.size() && c.entry.modified.equals(now.lastModifiedTime())) {
            c.entry.checkedNs = System.nanoTime();
            cache.hits.increment();
            return c.entry;
        }
        c.release();
        cache.remove(c.path);
        Entry entry = new Entry(c.path, now);
        if (!c.wantsBodyOf(entry)) return entry;
        cache.misses.increment();
        c.file = FileChannel.open(path, StandardOpenOption.READ);
        if (c.file.size() != entry.size) throw new IOException("it is being changed");
        if (!cache.reserve(entry)) return entry;
        c.entry = entry;
        for (long left = entry.size; left > 0; left -= CHUNK_BYTES) entry.chunks.add(chunk(c.file, left));
        c.file.close();
        cache.put(entry);
        return entry;
    }

    /** The next bytes of a file that must have so many left. */
    static ByteBuffer chunk(FileChannel file, long left) throws IOException {
        ByteBuffer chunk = ByteBuffer.allocate((int) Math.min(CHUNK_BYTES, left));
        while (chunk.hasRemaining()) if (file.read(chunk) < 0) throw new EOFException("it has become shorter");
        return chunk.flip();
    }

    void execute(Connection c) {
        String[] command = (options.get("--cgi") + " " + c.query).split(" +", -1);
        ProcessBuilder builder = new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT);
        try {
            Process process = builder.redirectInput(new File("/dev/null")).start();
            // What a program has started has its output, too, and would keep its reader waiting.
            CompletableFuture.delayedExecutor(CGI_TIMEOUT_S, TimeUnit.SECONDS).execute(() -> {
                if (!process.isAlive()) return; // Its number may be another's by now.
                process.descendants().forEach(ProcessHandle::destroyForcibly);
                process.destroyForcibly();
            });
            byte[] body = process.getInputStream().readNBytes(MAX_CGI_BYTES + 1);
            if (body.length > MAX_CGI_BYTES || process.waitFor() != 0) throw new IOException("it failed, said too much or took too long");
            c.answer(200, "text/html", new String(body, ISO_8859_1));
        } catch (IOException | InterruptedException error) {
            log("cgi", "failed to run " + command[0] + ": " + error.getMessage());
            c.fail(502);
        }
        pass(c, send);
    }

    /** Writes what the client takes. The connection then waits for the client, a chunk, or its next request. */
    void send(Connection c) throws IOException {
        boolean all = c.flush(), ends = all && c.left == 0;
        if (ends) c.finish();
        if (!all) c.await(OP_WRITE);
        else if (!ends) pass(c, file);
        else if (!c.keeps) c.close();
        else if (c.in.position() > 0) pass(c, parse);
        else c.await(OP_READ);
    }

    String status() {
        Runtime jvm = Runtime.getRuntime();
        StringJoiner each = new StringJoiner(",");
        for (Stage stage : stages) each.add(String.format("\"%s\":{\"queue\":%d,\"threads\":%d,\"batch\":%d,\"events\":%d}",
            stage.name, stage.queue.size(), stage.threads.get(), stage.batch, stage.events.sum()));
        return String.format("{\"connections\":{\"open\":%d,\"accepted\":%d},\"requests\":{\"count\":%d,\"refused\":%d},"
            + "\"stages\":{%s},\"cache\":{\"bytes\":%d,\"hits\":%d,\"misses\":%d},"
            + "\"heap\":{\"used\":%d,\"max\":%d},\"gc\":{\"time_ms\":%d}}%n",
            accepted.sum() - closed.sum(), accepted.sum(), requests.sum(), refused.sum(), each,
            cache.bytes, cache.hits.sum(), cache.misses.sum(), jvm.totalMemory() - jvm.freeMemory(), jvm.maxMemory(),
            getGarbageCollectorMXBeans().stream().mapToLong(one -> one.getCollectionTime()).sum());
    }

    /** A client's connection, and the request that it is at. */
    final class Connection {
        final SocketChannel channel;
        long sinceNs = System.nanoTime(), modifiedSinceS, left;
        int wanted;
        boolean headOnly, keeps, begun;
        String path, query;
        ByteBuffer in = ByteBuffer.allocate(1024);
        ByteBuffer[] out;
        FileChannel file;
        Entry entry;

        Connection(SocketChannel channel) { this.channel = channel; }
        void await(int operation) throws IOException {
            wanted = operation;
            channel.register(selector, operation, this);
            selector.wakeup();
        }
        void close() {
            if (channel.isOpen()) closed.increment();
            release();
            closeQuietly(channel);
            selector.wakeup(); // It frees the descriptor.
        }
        /** Gives back what the last answer was made of. */
        Connection release() {
            cache.leave(entry);
            closeQuietly(file);
            entry = null;
            file = null;
            out = null;
            left = 0;
            return this;
        }
        /** Reads more; whether the client may still send. */
        boolean fill() throws IOException {
            if (in.position() == 0) sinceNs = System.nanoTime();
            if (!in.hasRemaining()) in = ByteBuffer.allocate(2 * in.capacity()).put(in.flip());
            return channel.read(in) >= 0;
        }
        /** The next request's head, once all of it is there. */
        String nextHead() {
            Matcher head = HEAD.matcher(new String(in.array(), 0, in.position(), ISO_8859_1));
            if (!head.lookingAt()) return null;
            in.limit(in.position()).position(head.end()).compact();
            return head.group(1);
        }
        /** Takes a request apart; returns 200, or the status that refuses it. */
        int understand(String head) {
            String[] lines = head.split("\n");
            Matcher start = START.matcher(lines[0]);
            if (!start.matches()) return 400;
            Map<String, String> fields = new HashMap<>();
            for (String line : List.of(lines).subList(1, lines.length)) {
                Matcher field = FIELD.matcher(line);
                if (!field.matches()) return 400;
                fields.merge(field.group(1).toLowerCase(Locale.ROOT), field.group(2).strip(), (a, b) -> a + "," + b);
            }
            boolean old = start.group(4).equals("0");
            headOnly = start.group(1).equals("HEAD");
            path = URLDecoder.decode(start.group(2).replace("+", "%2B"), UTF_8);
            query = start.group(3);
            String length = fields.getOrDefault("content-length", "0"), host = fields.getOrDefault("host", old ? "" : ",");
            if (!length.matches("[0-9]{1,18}") || host.contains(",") || (path + "/").contains("/../")) return 400;
            if (fields.containsKey("transfer-encoding")) return 501;
            if (path.endsWith("/")) path += "index.html";
            try {
                modifiedSinceS = Instant.from(DATE.parse(fields.getOrDefault("if-modified-since", ""))).getEpochSecond();
            } catch (DateTimeException none) {
                modifiedSinceS = Long.MIN_VALUE;
            }
            // After a body, which nobody reads, the connection ends.
            List<String> asks = List.of(fields.getOrDefault("connection", "").toLowerCase(Locale.ROOT).split("[ \t]*,[ \t]*"));
            keeps = Long.parseLong(length) == 0 && !asks.contains("close") && (!old || asks.contains("keep-alive"));
            return headOnly || start.group(1).equals("GET") ? 200 : 405;
        }
        boolean wantsBodyOf(Entry file) { return !headOnly && file.modifiedS > modifiedSinceS; }
        /** Answers without a file. But for two of them nobody knows after these statuses where the next request begins. */
        Connection fail(int status) {
            keeps &= status == 404 || status == 405;
            return answer(status, "text/plain", status + " " + REASONS.get(status) + "\n");
        }
        Connection answer(int status, String type, String body) {
            release();
            String fields = "Content-Type: " + type + "\r\nContent-Length: " + body.length() + "\r\n";
            return answer(head(status, fields + (status == 405 ? "Allow: GET, HEAD\r\n" : "")), latin1(headOnly ? "" : body));
        }
        /** Answers with a file: with its chunks in the cache, or with its head before those that will be read. */
        Connection answer(Entry file) {
            boolean newer = file.modifiedS > modifiedSinceS;
            List<ByteBuffer> parts = new ArrayList<>(List.of(head(newer ? 200 : 304, newer ? file.fields : file.date)));
            if (wantsBodyOf(file) && entry != null) for (ByteBuffer chunk : file.chunks) parts.add(chunk.duplicate());
            left = wantsBodyOf(file) && entry == null ? file.size : 0;
            return answer(parts.toArray(new ByteBuffer[0]));
        }
        ByteBuffer head(int status, String fields) {
            return latin1("HTTP/1.1 " + status + " " + REASONS.get(status) + "\r\nServer: haboob/1.0\r\nDate: "
                + DATE.format(Instant.now()) + "\r\n" + fields + "Connection: " + (keeps ? "keep-alive" : "close") + "\r\n\r\n");
        }
        Connection answer(ByteBuffer... parts) {
            if (begun) left -= parts[0].remaining();
            out = parts;
            return this;
        }
        /** Writes; whether all is written. Little at once: the JVM copies all that it is given, taken or not. */
        boolean flush() throws IOException {
            begun = true;
            sinceNs = System.nanoTime();
            channel.write(out, 0, Math.min(2, out.length));
            for (ByteBuffer part : out) {
                if (part.hasRemaining()) channel.write(part);
                if (part.hasRemaining()) return false;
            }
            return true;
        }
        /** After an answer. A connection that is closed with bytes unread is reset, and the answer might be lost on its way. */
        void finish() throws IOException {
            requests.increment();
            release();
            begun = headOnly = false;
            for (int i = 0; i < 64 && !keeps && channel.read(in.clear()) > 0; ) i++;
        }
    }

    /** A queue of connections, threads that take batches from it, and the controllers of both numbers. */
    final class Stage {
        interface Handler { void handle(Connection c) throws IOException; }
        final String name;
        final int maxBatch;
        final Handler handler;
        final BlockingQueue<Connection> queue = new ArrayBlockingQueue<>(number("--queue-length"));
        final AtomicInteger threads = new AtomicInteger();
        final LongAdder events = new LongAdder();
        volatile int batch;
        boolean raises;
        double rate, best;
        long counted, samples;

        Stage(String name, int maxBatch, Handler handler) {
            this.name = name;
            this.handler = handler;
            this.maxBatch = batch = maxBatch;
        }
        void addThread() {
            repeat(name, this::work);
            threads.incrementAndGet();
        }
        /** Handles a batch; false where none has come for long, and other threads are left to wait. */
        boolean work() throws InterruptedException {
            Connection first = queue.poll(RETIRE_S, TimeUnit.SECONDS);
            int number = threads.get();
            if (first == null) return number == 1 || !threads.compareAndSet(number, number - 1);
            List<Connection> taken = new ArrayList<>(List.of(first));
            queue.drainTo(taken, batch - 1);
            for (Connection c : taken) try {
                handler.handle(c);
            } catch (Throwable error) {
                if (!(error instanceof IOException)) log(name, name + " failed with " + c.path + ": " + error);
                c.close();
            }
            events.add(taken.size());
            return true;
        }
        /** A thread more for a long queue; and every fifth time the batch, by what has become of the rate of events. */
        void adjust(double seconds) {
            if (queue.size() > number("--queue-threshold") && threads.get() < number("--threads-max")) addThread();
            rate = 0.7 * rate + 0.3 * (events.sum() - counted) / seconds;
            counted = events.sum();
            if (++samples % 5 != 0) return;
            boolean anew = rate < 0.2 * best || rate > 2 * best || (raises && batch == maxBatch);
            best = anew ? rate : Math.max(best, rate);
            raises = !anew && rate < (raises ? 0.98 : 0.9) * best;
            batch = Math.min(Math.max(anew ? maxBatch : raises ? batch * 6 / 5 + 1 : batch * 5 / 6, MIN_BATCH), maxBatch);
        }
    }

    /** Files in the heap, those that were asked for least recently first out. What is still being sent counts, too. */
    static final class Cache {
        final Map<String, Entry> entries = new LinkedHashMap<>(1024, 0.75f, true);
        final LongAdder hits = new LongAdder(), misses = new LongAdder();
        final long limit;
        volatile long bytes;

        Cache(long limit) { this.limit = limit; }
        synchronized Entry take(String path) {
            Entry entry = entries.get(path);
            if (entry != null) entry.users++;
            return entry;
        }
        /** Makes room for an entry and takes it; false where it is too large, or too much of the others is being sent. */
        synchronized boolean reserve(Entry entry) {
            if (entry.cost > limit / 8) return false;
            for (Iterator<Entry> oldest = entries.values().iterator(); bytes + entry.cost > limit && oldest.hasNext(); ) {
                Entry other = oldest.next();
                if (other.users > 1) continue;
                oldest.remove();
                leave(other);
            }
            if (bytes + entry.cost > limit) return false;
            bytes += entry.cost;
            entry.users++;
            return true;
        }
        /** The cache is a user, too, of what it holds. */
        synchronized void put(Entry entry) {
            entry.users++;
            leave(entries.put(entry.path, entry));
        }
        synchronized void remove(String path) { leave(entries.remove(path)); }
        synchronized void leave(Entry entry) { if (entry != null && --entry.users == 0) bytes -= entry.cost; }
    }

    /** A file as it was when it was looked at last; with its content where the cache has it. */
    static final class Entry {
        final String path, date, fields;
        final FileTime modified;
        final long size, cost, modifiedS;
        final List<ByteBuffer> chunks = new ArrayList<>();
        volatile long checkedNs = System.nanoTime();
        int users;

        Entry(String path, BasicFileAttributes now) {
            this.path = path;
            size = now.size();
            cost = size + 512;
            modified = now.lastModifiedTime();
            modifiedS = modified.to(TimeUnit.SECONDS);
            date = "Last-Modified: " + DATE.format(modified.toInstant()) + "\r\n";
            String type = TYPES.getOrDefault(path.substring(path.lastIndexOf('.') + 1), "application/octet-stream");
            fields = date + "Content-Type: " + type + "\r\nContent-Length: " + size + "\r\n";
        }
    }
}
