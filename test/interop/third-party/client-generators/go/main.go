// A client that oapi-codegen has made of the service's /openapi.json: it drafts an upgrade, commits it, follows it by its
// events to the end, and cancels another one. Prints what it has seen as JSON.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"log"
	"net/http"
	"os"
	"strings"

	"client/upgrades"
)

var (
	ctx     = context.Background()
	client  *upgrades.ClientWithResponses
	cluster = os.Args[3]
)

func to[A any](value A) *A { return &value }

// must gives the data of an answer, or ends with what the service says.
func must[A any](data *A, body []byte, err error) A {
	if err != nil {
		log.Fatal(err)
	}
	if data == nil {
		log.Fatal(string(body))
	}
	return *data
}

func start(bundle string, draft bool) upgrades.Task {
	answer, err := client.StartUpgradeWithResponse(ctx, &upgrades.StartUpgradeParams{}, upgrades.UpgradeSpec{
		BundleId:     bundle,
		ResourceType: upgrades.ResourceTypeCLUSTER,
		DraftMode:    &draft,
		ResourceUpgradeSpecs: []upgrades.ResourceUpgradeSpec{{
			ResourceId: cluster,
			HostosUpgradeOptionsSpec: &upgrades.HostosUpgradeOptionsSpec{
				HostosUpgradeFailureAction: &upgrades.HostosUpgradeFailureAction{
					Action:     to(upgrades.FailureActionRETRY),
					RetryCount: to(1),
					RetryDelay: to(0),
				},
			},
		}},
	})
	if err != nil {
		log.Fatal(err)
	}
	return must(answer.JSON202, answer.Body, nil)
}

func read(id string) upgrades.Upgrade {
	answer, err := client.GetUpgradeWithResponse(ctx, id)
	if err != nil {
		log.Fatal(err)
	}
	return must(answer.JSON200, answer.Body, nil)
}

func update(id string, update upgrades.UpgradeUpdateSpec) {
	answer, err := client.UpdateUpgradeWithResponse(ctx, id, update)
	if err != nil {
		log.Fatal(err)
	}
	must(answer.JSON200, answer.Body, nil)
}

// follow reads the events of a task to the last one. Gives the names of all, and the status that the task ended with.
func follow(id string) (map[string]bool, upgrades.TaskStatus) {
	answer, err := client.WatchTask(ctx, id, &upgrades.WatchTaskParams{})
	if err != nil {
		log.Fatal(err)
	}
	defer answer.Body.Close()
	lines := bufio.NewScanner(answer.Body)
	lines.Buffer(nil, 16<<20)
	names, name := map[string]bool{}, ""
	for lines.Scan() {
		if event, isName := strings.CutPrefix(lines.Text(), "event: "); isName {
			name = event
			names[name] = true
		}
		data, isData := strings.CutPrefix(lines.Text(), "data: ")
		if !isData || name != "end" {
			continue
		}
		var end upgrades.TaskEnd
		if err := json.Unmarshal([]byte(data), &end); err != nil {
			log.Fatal(err)
		}
		return names, end.Status
	}
	log.Fatal("the stream broke off: ", lines.Err())
	return nil, ""
}

func main() {
	baseURL, token, firstBundle, secondBundle := os.Args[1], os.Args[2], os.Args[4], os.Args[5]
	authorize := func(_ context.Context, request *http.Request) error {
		request.Header.Set("Authorization", "Bearer "+token)
		return nil
	}
	made, err := upgrades.NewClientWithResponses(baseURL, upgrades.WithRequestEditorFn(authorize))
	if err != nil {
		log.Fatal(err)
	}
	client = made

	draft := start(firstBundle, true)
	drafted := read(draft.Id)
	update(draft.Id, upgrades.UpgradeUpdateSpec{UpgradeNow: to(true)})
	events, status := follow(draft.Id)
	upgraded := read(draft.Id)

	second := start(secondBundle, false)
	update(second.Id, upgrades.UpgradeUpdateSpec{MarkForCancellation: to(true)})
	_, cancelled := follow(second.Id)

	listed, err := client.ListUpgradesWithResponse(ctx, &upgrades.ListUpgradesParams{
		Status:     &[]upgrades.UpgradeStatus{upgrades.UpgradeStatusCOMPLETEDWITHSUCCESS},
		ResourceId: &cluster,
	})
	if err != nil {
		log.Fatal(err)
	}
	found := []bool{}
	for _, upgrade := range *must(listed.JSON200, listed.Body, nil).Elements {
		found = append(found, upgrade.Id == draft.Id)
	}
	unknown, err := client.GetUpgradeWithResponse(ctx, "00000000-0000-4000-8000-000000000000")
	if err != nil {
		log.Fatal(err)
	}

	seen, err := json.Marshal(map[string]any{
		"drafted":   drafted.Status,
		"upgraded":  []any{status, upgraded.Status},
		"followed":  events["snapshot"] && events["end"],
		"cancelled": []any{cancelled, read(second.Id).Status},
		"listed":    found,
		"unknown":   must(unknown.JSON404, unknown.Body, nil).ErrorCode,
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(string(seen))
}
