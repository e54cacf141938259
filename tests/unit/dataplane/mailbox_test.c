/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages to a core that answers, that answers late, and that never looks. */
#include "dataplane/mailbox.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

#include "dataplane/server.h"
#include "tests/unit/dataplane/net/wire.h"
#include "tests/unit/unit.h"

static struct worker worker;
static atomic_bool stop;
static atomic_uint ran;

struct question {
    struct message message;
    unsigned asked, answer;
};

static void
answer(struct worker *core, struct message *message)
{
    struct question *question = (struct question *)message;
    CU_ASSERT_PTR_EQUAL(core, &worker);
    question->answer = question->asked * 2;
    atomic_fetch_add(&ran, 1);
}

static struct question *
question_new(unsigned asked)
{
    struct question *question = calloc(1, sizeof(*question));
    CU_ASSERT_PTR_NOT_NULL_FATAL(question);
    question->asked = asked;
    return question;
}

static void *
serve(void *arg)
{
    (void)arg;
    while (!atomic_load(&stop))
        mailbox_run(&worker);
    return NULL;
}

static void
a_core_answers(void)
{
    pthread_t core;
    atomic_store(&stop, false);
    atomic_store(&ran, 0);
    CU_ASSERT_FATAL(pthread_create(&core, NULL, serve, NULL) == 0);
    for (unsigned i = 0; i < 100; i++) {
        struct question *question = question_new(i);
        CU_ASSERT_EQUAL_FATAL(mailbox_call(&worker, &question->message, answer, 60000), 0);
        CU_ASSERT_EQUAL(question->answer, 2 * i);
        free(question);
    }
    atomic_store(&stop, true);
    pthread_join(core, NULL);
    CU_ASSERT_EQUAL(atomic_load(&ran), 100);
}

static void
a_late_core_frees_what_nobody_waits_for(void)
{
    atomic_store(&ran, 0);
    CU_ASSERT_EQUAL(mailbox_call(&worker, &question_new(1)->message, answer, 1), -ETIMEDOUT);
    CU_ASSERT_EQUAL(atomic_load(&ran), 0);
    CU_ASSERT_EQUAL(mailbox_run(&worker), 1);
    CU_ASSERT_EQUAL(atomic_load(&ran), 1);
    CU_ASSERT_EQUAL(mailbox_run(&worker), 0);
}

static void
a_full_box_refuses(void)
{
    unsigned sent = 0;
    struct question *question = question_new(0);
    while (mailbox_call(&worker, &question->message, answer, 0) == -ETIMEDOUT) {
        sent++;
        CU_ASSERT_FATAL(sent < 10000);
        question = question_new(sent);
    }
    CU_ASSERT(sent > 0);
    CU_ASSERT_EQUAL(mailbox_call(&worker, &question->message, answer, 0), -ENOBUFS);
    free(question);
    while (sent > 0)
        sent -= mailbox_run(&worker);
    CU_ASSERT_EQUAL(mailbox_run(&worker), 0);
}

static const struct unit_test tests[] = {
    {"a core answers", a_core_answers},
    {"a late core frees what nobody waits for", a_late_core_frees_what_nobody_waits_for},
    {"a full box refuses", a_full_box_refuses},
};

int
main(void)
{
    wire_start();
    worker.mailbox = mailbox_create(0);
    if (!worker.mailbox)
        return 1;
    int rc = unit_main("mailbox", tests, sizeof(tests) / sizeof(tests[0]));
    mailbox_free(worker.mailbox);
    return rc;
}
