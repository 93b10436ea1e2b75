/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * libumad_agents.so, to be preloaded before ibsim's libumad2sim.so: makes a simulated umad device
 * behave as the kernel's does where umad2sim differs.
 *
 * - A process may open the device several times, as OpenSM and a plugin of it do. Each answer goes
 * to the agent that asked; umad2sim gives all MADs of a class to the agent that registered last.
 * - A request without an answer is sent again `retries` times, and comes back with ETIMEDOUT after
 *   that. umad2sim has no timers: who waits for a lost MAD waits for ever. Answers that come too
 * late are dropped.
 * - Descriptors are real ones, so that poll() works with others in the same call.
 * - A process that ends does not hang. umad2sim waits for its receiver with a lock that the receiver
 * takes if a packet comes just then. So the receiver ends before.
 *
 * ibsim reports at once that a MAD has found no node. So does this, unless UMAD_AGENTS_WAIT is set:
 * then such a MAD times out, as it does in a real fabric. ibsim drops SMPs with the attributes of a vendor. With
 * UMAD_AGENTS_REFUSE they are refused, as by a switch that does not know them.
 *
 * One descriptor of umad2sim, the hub, serves all. A thread reads it and hands out what comes. Nothing is
 * written to the hub while ibsim's socket is full: umad2sim would wait with a lock that its reader needs,
 * while ibsim waits until it has read.
 */
#include <dlfcn.h>
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <infiniband/umad.h>
#include <poll.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))
#define DEVICE "/dev/infiniband/umad"
#define PACKET_MAX (sizeof(struct ib_user_mad) + 256)
#define USERS 16
#define AGENTS 64
#define CLASSES 256
#define TICK_MS 10
#define DESCRIPTORS 4096
#define SOCKETS 4
#define ROOM_MS 10

enum {
	BYTE_CLASS = 1,
	BYTE_METHOD = 3,
	BYTE_STATUS = 4,
	BYTE_TRANSACTION = 8,
	BYTE_ATTRIBUTE = 16,
	METHOD_RESPONSE = 0x80,
	CLASS_DIRECTED = 0x81,
	CLASS_SMP = 0x01,
	DIRECTION = 0x80, /* in the status of an answer by a directed route */
	UNSUPPORTED = 0x0C,
	VENDOR_FIRST = 0xFF00,
	VENDOR_KNOWN = 0xFF90 /* ibsim has it */
};

/* The argument of the ioctl that registers an agent. */
struct registration {
	uint32_t id;
	uint32_t method_mask[4];
	uint8_t qpn, class, version, oui[3], rmpp_version;
};

#define REGISTER _IOWR(IB_IOCTL_MAGIC, 1, struct registration)
#define UNREGISTER _IOW(IB_IOCTL_MAGIC, 2, uint32_t)

/* One opened descriptor: the user has one end of a socket pair, the thread the other. */
struct user {
	bool used, closed;
	int end, hub_end;
};

struct agent {
	bool used;
	struct user *user;
	uint8_t class;
	uint32_t method_mask[4];
};

/* A request that waits for its answer. */
struct waiting {
	struct waiting *next;
	uint32_t transaction; /* on the way */
	uint64_t asked; /* the user's own, network byte order */
	uint32_t agent; /* the user's */
	uint64_t due;
	uint32_t retries;
	size_t size;
	uint8_t packet[PACKET_MAX]; /* as sent */
};

static struct {
	pthread_mutex_t lock;
	pthread_t thread;
	int hub; /* 0: not open */
	bool over, waits, refuses;
	struct user users[USERS];
	struct agent agents[AGENTS];
	int32_t class_agents[CLASSES]; /* umad2sim's agent for a class + 1; 0: none */
	struct waiting *waiting;
	uint32_t transaction;
	uint64_t next_check;
} all = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* Descriptors of users: umad2sim itself writes to others while the lock is held. */
static _Atomic bool is_user[DESCRIPTORS];

/* umad2sim's sockets to ibsim. */
static struct {
	int list[SOCKETS];
	atomic_uint count;
} simulator;

static struct {
	int (*open)(const char *path, int flags, ...);
	int (*close)(int fd);
	ssize_t (*read)(int fd, void *buffer, size_t size);
	ssize_t (*write)(int fd, const void *buffer, size_t size);
	int (*ioctl)(int fd, unsigned long request, ...);
	int (*poll)(struct pollfd *list, nfds_t count, int timeout);
	int (*connect)(int fd, const struct sockaddr *address, socklen_t size);
	int (*pthread_create)(pthread_t *thread, const pthread_attr_t *attributes,
			      void *(*run)(void *), void *argument);
} next;

/* umad2sim's thread that receives packets. */
static struct {
	bool known;
	pthread_t thread;
	void *(*run)(void *);
	void *argument;
	atomic_bool over;
} receiver;

static void find_next(void)
{
	if (next.poll)
		return;
	*(void **)&next.open = dlsym(RTLD_NEXT, "open");
	*(void **)&next.close = dlsym(RTLD_NEXT, "close");
	*(void **)&next.read = dlsym(RTLD_NEXT, "read");
	*(void **)&next.write = dlsym(RTLD_NEXT, "write");
	*(void **)&next.ioctl = dlsym(RTLD_NEXT, "ioctl");
	*(void **)&next.connect = dlsym(RTLD_NEXT, "connect");
	*(void **)&next.pthread_create = dlsym(RTLD_NEXT, "pthread_create");
	*(void **)&next.poll = dlsym(RTLD_NEXT, "poll");
}

/* Whether a packet can be written to ibsim at once, or within some milliseconds. ppoll(), because umad2sim's
 * poll() waits for the lock. */
static bool has_room(unsigned milliseconds)
{
	for (unsigned i = 0; i < atomic_load(&simulator.count); i++) {
		struct pollfd wanted = {.fd = simulator.list[i], .events = POLLOUT};
		struct timespec time = {.tv_nsec = (long)milliseconds * 1000000};

		if (!ppoll(&wanted, 1, &time, NULL))
			return false;
	}
	return true;
}

static uint64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

static uint8_t *mad_of(void *packet)
{
	return ((struct ib_user_mad *)packet)->data;
}

static uint64_t transaction_of(void *packet)
{
	uint64_t transaction;

	memcpy(&transaction, mad_of(packet) + BYTE_TRANSACTION, sizeof(transaction));
	return transaction;
}

static void set_transaction(void *packet, uint64_t transaction)
{
	memcpy(mad_of(packet) + BYTE_TRANSACTION, &transaction, sizeof(transaction));
}

/* Hands a packet to an agent's user. Called without the lock: it may wait for the user. */
static void deliver(int hub_end, const void *packet, size_t size)
{
	if (hub_end > 0)
		send(hub_end, packet, size, MSG_NOSIGNAL);
}

static int end_of_agent(uint32_t id)
{
	const struct agent *agent = id < AGENTS ? &all.agents[id] : NULL;

	return agent && agent->used && !agent->user->closed ? agent->user->hub_end : -1;
}

/* The agent that wants an unasked MAD. */
static uint32_t agent_for(uint8_t class, uint8_t method)
{
	for (uint32_t i = 0; i < AGENTS; i++)
		if (all.agents[i].used && all.agents[i].class == class &&
		    all.agents[i].method_mask[method / 32 % 4] >> method % 32 & 1)
			return i;
	return AGENTS;
}

static struct waiting **find_waiting(uint32_t transaction)
{
	struct waiting **at = &all.waiting;

	while (*at && (*at)->transaction != transaction)
		at = &(*at)->next;
	return at;
}

/* Takes the request out to which a packet belongs, and makes the packet the user's. */
static int claim(void *packet)
{
	struct waiting **at = find_waiting((uint32_t)be64toh(transaction_of(packet)));
	struct waiting *found = *at;
	struct ib_user_mad *umad = packet;
	int end;

	if (!found)
		return -1;
	*at = found->next;
	umad->agent_id = found->agent;
	set_transaction(packet, found->asked);
	end = end_of_agent(found->agent);
	free(found);
	return end;
}

/* Where a packet from ibsim belongs, -1 if nobody wants it. */
static int place(void *packet)
{
	struct ib_user_mad *umad = packet;
	const uint8_t *mad = mad_of(packet);

	if (umad->status && all.waits)
		return -1;
	if (umad->status || mad[BYTE_METHOD] & METHOD_RESPONSE)
		return claim(packet);
	umad->agent_id = agent_for(mad[BYTE_CLASS], mad[BYTE_METHOD]);
	return end_of_agent(umad->agent_id);
}

/* Sends a late request again; the one that has no retries left is the result, taken out. */
static struct waiting *expire(uint64_t now)
{
	for (struct waiting **at = &all.waiting; *at; at = &(*at)->next) {
		struct waiting *late = *at;

		if (late->due > now || (late->retries && !has_room(0)))
			continue;
		if (!late->retries) {
			*at = late->next;
			return late;
		}
		late->retries--;
		late->due = now + ((struct ib_user_mad *)late->packet)->timeout_ms;
		next.write(all.hub, late->packet, late->size);
	}
	return NULL;
}

static void report_late(uint64_t now)
{
	for (;;) {
		struct waiting *late;
		int end = -1;

		pthread_mutex_lock(&all.lock);
		late = expire(now);
		if (late)
			end = end_of_agent(late->agent);
		pthread_mutex_unlock(&all.lock);
		if (!late)
			return;
		((struct ib_user_mad *)late->packet)->status = ETIMEDOUT;
		((struct ib_user_mad *)late->packet)->agent_id = late->agent;
		set_transaction(late->packet, late->asked);
		deliver(end, late->packet, late->size);
		free(late);
	}
}

static void end_closed_users(void)
{
	pthread_mutex_lock(&all.lock);
	for (int i = 0; i < USERS; i++) {
		if (!all.users[i].used || !all.users[i].closed)
			continue;
		next.close(all.users[i].hub_end);
		all.users[i].used = false;
	}
	pthread_mutex_unlock(&all.lock);
}

static void *hand_out(void *unused)
{
	uint8_t packet[PACKET_MAX];

	while (!__atomic_load_n(&all.over, __ATOMIC_RELAXED)) {
		struct pollfd wanted = {.fd = all.hub, .events = POLLIN};
		uint64_t now;

		if (next.poll(&wanted, 1, TICK_MS) == 1 &&
		    next.read(all.hub, packet, sizeof(packet)) > 0) {
			int end;

			pthread_mutex_lock(&all.lock);
			end = place(packet);
			pthread_mutex_unlock(&all.lock);
			deliver(end, packet, PACKET_MAX);
		}
		now = now_ms();
		if (now < all.next_check)
			continue;
		all.next_check = now + TICK_MS;
		report_late(now);
		end_closed_users();
	}
	return unused;
}

static void note_end(void *unused)
{
	(void)unused;
	atomic_store(&receiver.over, true);
}

static void *run_receiver(void *unused)
{
	void *result;

	(void)unused;
	pthread_cleanup_push(note_end, NULL);
	result = receiver.run(receiver.argument);
	pthread_cleanup_pop(1);
	return result;
}

EXPORT int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *),
			  void *argument)
{
	void *place;
	Dl_info found;

	find_next();
	memcpy(&place, &run, sizeof(place));
	if (receiver.known || !dladdr(place, &found) || !strstr(found.dli_fname, "umad2sim"))
		return next.pthread_create(thread, attributes, run, argument);
	receiver.run = run;
	receiver.argument = argument;
	int rc = next.pthread_create(thread, attributes, run_receiver, NULL);
	receiver.thread = *thread;
	receiver.known = !rc;
	return rc;
}

/* umad2sim joins it. */
static void end_receiver(void)
{
	const struct timespec millisecond = {.tv_nsec = 1000000};

	pthread_cancel(receiver.thread);
	while (!atomic_load(&receiver.over))
		nanosleep(&millisecond, NULL);
}

/* Before umad2sim frees what the thread uses. */
static void end_thread(void)
{
	__atomic_store_n(&all.over, true, __ATOMIC_RELAXED);
	pthread_join(all.thread, NULL);
	if (receiver.known)
		end_receiver();
}

static int start(const char *path, int flags)
{
	if (all.hub)
		return 0;
	all.hub = next.open(path, flags);
	if (all.hub < 1024) /* not umad2sim's */
		return -1;
	all.waits = getenv("UMAD_AGENTS_WAIT") != NULL;
	all.refuses = getenv("UMAD_AGENTS_REFUSE") != NULL;
	if (pthread_create(&all.thread, NULL, hand_out, NULL))
		return -1;
	return atexit(end_thread);
}

/* A new descriptor for the device. */
static int open_user(void)
{
	struct timeval patience = {.tv_sec = 2};
	int ends[2];

	for (int i = 0; i < USERS; i++) {
		if (all.users[i].used)
			continue;
		if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends))
			return -1;
		fcntl(ends[0], F_SETFL, O_NONBLOCK);
		setsockopt(ends[1], SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
		all.users[i] = (struct user){.used = true, .end = ends[0], .hub_end = ends[1]};
		is_user[ends[0] % DESCRIPTORS] = true;
		return ends[0];
	}
	errno = EMFILE;
	return -1;
}

EXPORT int open(const char *path, int flags, ...)
{
	mode_t mode = 0;
	va_list arguments;
	int made;

	find_next();
	if (flags & O_CREAT) {
		va_start(arguments, flags);
		mode = va_arg(arguments, mode_t);
		va_end(arguments);
	}
	if (strncmp(path, DEVICE, strlen(DEVICE)))
		return next.open(path, flags, mode);
	pthread_mutex_lock(&all.lock);
	made = start(path, flags) ? -1 : open_user();
	pthread_mutex_unlock(&all.lock);
	return made;
}

/* With the lock held. */
static struct user *user_of(int fd)
{
	for (int i = 0; i < USERS; i++)
		if (all.users[i].used && !all.users[i].closed && all.users[i].end == fd)
			return &all.users[i];
	return NULL;
}

EXPORT int close(int fd)
{
	struct user *user = NULL;

	find_next();
	if (fd >= 0 && is_user[fd % DESCRIPTORS]) {
		pthread_mutex_lock(&all.lock);
		user = user_of(fd);
		is_user[fd % DESCRIPTORS] = false;
		if (user)
			user->closed = true;
		for (int i = 0; user && i < AGENTS; i++)
			if (all.agents[i].user == user)
				all.agents[i].used = false;
		pthread_mutex_unlock(&all.lock);
	}
	return next.close(fd);
}

/* umad2sim knows one agent for each class; ours are kept here. */
static int add_agent(struct user *user, struct registration *asked)
{
	struct registration copy = *asked;
	uint32_t id = 0;

	if (!all.class_agents[asked->class]) {
		if (next.ioctl(all.hub, REGISTER, &copy))
			return -1;
		all.class_agents[asked->class] = (int32_t)copy.id + 1;
	}
	while (id < AGENTS && all.agents[id].used)
		id++;
	if (id == AGENTS) {
		errno = ENOMEM;
		return -1;
	}
	all.agents[id] = (struct agent){.used = true, .user = user, .class = asked->class};
	memcpy(all.agents[id].method_mask, asked->method_mask, sizeof(asked->method_mask));
	asked->id = id;
	return 0;
}

static int user_ioctl(struct user *user, unsigned long request, void *argument)
{
	uint32_t id;

	if (request == REGISTER)
		return add_agent(user, argument);
	if (request != UNREGISTER)
		return next.ioctl(all.hub, request, argument);
	memcpy(&id, argument, sizeof(id));
	if (id >= AGENTS || all.agents[id].user != user) {
		errno = EINVAL;
		return -1;
	}
	all.agents[id].used = false;
	return 0;
}

EXPORT int ioctl(int fd, unsigned long request, ...)
{
	struct user *user = NULL;
	va_list arguments;
	void *argument;
	int rc = 0;

	find_next();
	va_start(arguments, request);
	argument = va_arg(arguments, void *);
	va_end(arguments);
	if (fd >= 0 && is_user[fd % DESCRIPTORS]) {
		pthread_mutex_lock(&all.lock);
		user = user_of(fd);
		if (user)
			rc = user_ioctl(user, request, argument);
		pthread_mutex_unlock(&all.lock);
	}
	return user ? rc : next.ioctl(fd, request, argument);
}

/* Notes a request that expects an answer, and gives it a transaction ID of its own. */
static int note(void *packet, size_t size, uint32_t agent)
{
	const struct ib_user_mad *umad = packet;
	struct waiting *made;

	if (!umad->timeout_ms || mad_of(packet)[BYTE_METHOD] & METHOD_RESPONSE)
		return 0;
	made = malloc(sizeof(*made));
	if (!made)
		return -1;
	*made = (struct waiting){.next = all.waiting,
				 .transaction = ++all.transaction,
				 .asked = transaction_of(packet),
				 .agent = agent,
				 .due = now_ms() + umad->timeout_ms,
				 .retries = umad->retries,
				 .size = size};
	set_transaction(packet, htobe64(made->transaction));
	memcpy(made->packet, packet, size);
	all.waiting = made;
	return 0;
}

/* Whether an SMP is one that a switch would refuse, and ibsim drops. */
static bool is_refused(void *packet)
{
	const uint8_t *mad = mad_of(packet);
	const unsigned attribute = (unsigned)mad[BYTE_ATTRIBUTE] << 8 | mad[BYTE_ATTRIBUTE + 1];

	return all.refuses && (mad[BYTE_CLASS] == CLASS_SMP || mad[BYTE_CLASS] == CLASS_DIRECTED) &&
	       !(mad[BYTE_METHOD] & METHOD_RESPONSE) && attribute >= VENDOR_FIRST &&
	       attribute != VENDOR_KNOWN;
}

static ssize_t refuse(void *packet, size_t size, uint32_t agent)
{
	uint8_t *mad = mad_of(packet);

	mad[BYTE_METHOD] = METHOD_RESPONSE | 1;
	mad[BYTE_STATUS] = mad[BYTE_CLASS] == CLASS_DIRECTED ? DIRECTION : 0;
	mad[BYTE_STATUS + 1] = UNSUPPORTED;
	deliver(end_of_agent(agent), packet, size);
	return (ssize_t)size;
}

static ssize_t user_write(const void *buffer, size_t size)
{
	uint8_t packet[PACKET_MAX];
	struct ib_user_mad *umad = (struct ib_user_mad *)packet;
	uint32_t agent;

	size = size < sizeof(packet) ? size : sizeof(packet);
	memcpy(packet, buffer, size);
	agent = umad->agent_id;
	if (agent >= AGENTS || !all.agents[agent].used) {
		errno = EINVAL;
		return -1;
	}
	if (is_refused(packet))
		return refuse(packet, size, agent);
	umad->agent_id = (uint32_t)(all.class_agents[all.agents[agent].class] - 1);
	if (note(packet, size, agent))
		return -1;
	return next.write(all.hub, packet, size);
}

/* umad2sim connects to ibsim by this. */
EXPORT int connect(int fd, const struct sockaddr *address, socklen_t size)
{
	int type = 0;
	socklen_t type_size = sizeof(type);

	find_next();
	int rc = next.connect(fd, address, size);
	if (!rc && address->sa_family == AF_UNIX &&
	    !getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &type_size) && type == SOCK_DGRAM &&
	    atomic_load(&simulator.count) < SOCKETS) {
		simulator.list[atomic_load(&simulator.count)] = fd;
		atomic_fetch_add(&simulator.count, 1);
	}
	return rc;
}

EXPORT ssize_t write(int fd, const void *buffer, size_t size)
{
	struct user *user = NULL;
	ssize_t done = 0;
	bool full = true;

	find_next();
	if (fd < 0 || !is_user[fd % DESCRIPTORS] || size < sizeof(struct ib_user_mad))
		return next.write(fd, buffer, size);
	while (full) {
		pthread_mutex_lock(&all.lock);
		user = user_of(fd);
		full = user && !has_room(0);
		if (user && !full)
			done = user_write(buffer, size);
		pthread_mutex_unlock(&all.lock);
		if (full)
			has_room(ROOM_MS);
	}
	return !user ? next.write(fd, buffer, size) : done < 0 ? done : (ssize_t)size;
}
